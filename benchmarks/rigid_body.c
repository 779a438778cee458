/* ELN and VLV on the rigid body in the well: the algorithm of lielab's kernels, written for C. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double J[3] = {2.0, 2.0, 4.0};
static double Rm[9], alpha = 0.3;

static void pull(const double *R, const double *S, double *m, double *a) {
    double A[9], total = 0.0;
    for (int i = 0; i < 9; i++) total += (R[i] - S[i]) * (R[i] - S[i]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[3 * i + j] = S[i] * R[j] + S[3 + i] * R[3 + j] + S[6 + i] * R[6 + j];
    *m = sqrt(total);
    a[0] = A[5] - A[7];
    a[1] = A[6] - A[2];
    a[2] = A[1] - A[3];
}

static void torque(const double *R, double *tau) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double m, n, a[3], b[3];
    pull(R, one, &m, a);
    pull(R, Rm, &n, b);
    double c = 2.0 * (m - 1.0) / m, d = alpha / (n * n * n);
    for (int i = 0; i < 3; i++) tau[i] = c * a[i] + d * b[i];
}

static void cayley(const double *x, double *F) {
    double f = 1.0 / (1.0 + 0.25 * (x[0] * x[0] + x[1] * x[1] + x[2] * x[2])), g = 0.5 * f;
    double xx = x[0] * x[0], yy = x[1] * x[1], zz = x[2] * x[2];
    double xy = g * x[0] * x[1], xz = g * x[0] * x[2], yz = g * x[1] * x[2];
    F[0] = 1.0 - g * (yy + zz); F[1] = xy - f * x[2];       F[2] = xz + f * x[1];
    F[3] = xy + f * x[2];       F[4] = 1.0 - g * (xx + zz); F[5] = yz - f * x[0];
    F[6] = xz - f * x[1];       F[7] = yz + f * x[0];       F[8] = 1.0 - g * (xx + yy);
}

static void gyro(const double *w, double *g) {
    g[0] = (J[1] - J[2]) * w[1] * w[2];
    g[1] = (J[2] - J[0]) * w[2] * w[0];
    g[2] = (J[0] - J[1]) * w[0] * w[1];
}

/* Newton for J w - c J w x w (+ c^2 (w . J w) w for VLV) = b */
static void velocity(int vlv, double c, const double *b, double *w) {
    for (int sweep = 0; sweep < 30; sweep++) {
        double g[3], f[3], m[3], A[9];
        gyro(w, g);
        for (int i = 0; i < 3; i++) { m[i] = J[i] * w[i]; f[i] = m[i] - c * g[i] - b[i]; }
        double p = c * (J[1] - J[2]), q = c * (J[2] - J[0]), r = c * (J[0] - J[1]);
        A[0] = J[0];       A[1] = -p * w[2];  A[2] = -p * w[1];
        A[3] = -q * w[2];  A[4] = J[1];       A[5] = -q * w[0];
        A[6] = -r * w[1];  A[7] = -r * w[0];  A[8] = J[2];
        if (vlv) {
            double e = c * c * (w[0] * m[0] + w[1] * m[1] + w[2] * m[2]);
            for (int i = 0; i < 3; i++) {
                f[i] += e * w[i];
                A[4 * i] += e;
                for (int j = 0; j < 3; j++) A[3 * i + j] += 2.0 * c * c * w[i] * m[j];
            }
        }
        double c0 = A[4] * A[8] - A[5] * A[7], c1 = A[5] * A[6] - A[3] * A[8], c2 = A[3] * A[7] - A[4] * A[6];
        double s = 1.0 / (A[0] * c0 + A[1] * c1 + A[2] * c2), d[3];
        d[0] = s * (c0 * f[0] + (A[2] * A[7] - A[1] * A[8]) * f[1] + (A[1] * A[5] - A[2] * A[4]) * f[2]);
        d[1] = s * (c1 * f[0] + (A[0] * A[8] - A[2] * A[6]) * f[1] + (A[2] * A[3] - A[0] * A[5]) * f[2]);
        d[2] = s * (c2 * f[0] + (A[1] * A[6] - A[0] * A[7]) * f[1] + (A[0] * A[4] - A[1] * A[3]) * f[2]);
        double size = 0.0, scale = 0.0;
        for (int i = 0; i < 3; i++) {
            w[i] -= d[i];
            size = fmax(size, fabs(d[i]));
            scale = fmax(scale, fabs(w[i]));
        }
        if (size <= 1e-9 * scale) return;
    }
}

int main(int argc, char **argv) {
    int vlv = strcmp(argv[1], "VLV") == 0;
    long n = atol(argv[2]);
    double h = atof(argv[3]), c = 0.5 * h, y[12], tau[3];
    for (int i = 0; i < 12; i++) y[i] = atof(argv[4 + i]);
    for (int i = 0; i < 9; i++) Rm[i] = atof(argv[16 + i]);
    struct timespec start, stop;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    torque(y, tau);
    for (long step = 0; step < n; step++) {
        double *w = y + 9, v[3], b[3], g[3], m[3], F[9], R[9], x[3];
        gyro(w, g);
        for (int i = 0; i < 3; i++) {
            m[i] = J[i] * w[i] + c * tau[i];
            b[i] = m[i] + c * g[i];
            v[i] = b[i] / J[i];
        }
        if (vlv) velocity(1, c, m, v);
        for (int i = 0; i < 3; i++) x[i] = h * v[i];
        cayley(x, F);
        if (vlv) {
            gyro(v, g);
            double e = c * (J[0] * v[0] * v[0] + J[1] * v[1] * v[1] + J[2] * v[2] * v[2]);
            for (int i = 0; i < 3; i++) b[i] = J[i] * v[i] + c * (g[i] + e * v[i]);
        }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                R[3 * i + j] = y[3 * i] * F[j] + y[3 * i + 1] * F[3 + j] + y[3 * i + 2] * F[6 + j];
        memcpy(y, R, sizeof R);
        torque(y, tau);
        for (int i = 0; i < 3; i++) { b[i] += c * tau[i]; w[i] = b[i] / J[i]; }
        if (!vlv) velocity(0, c, b, w);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &stop);
    for (int i = 0; i < 12; i++) printf("%.17g ", y[i]);
    printf("%.9g\n", (stop.tv_sec - start.tv_sec) + 1e-9 * (stop.tv_nsec - start.tv_nsec));
    return 0;
}
