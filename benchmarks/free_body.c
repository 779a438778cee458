/* RKMK4 with exact dexpinv on the free rigid body: the algorithm of lielab's kernels, written for C. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double sinc(double x) {
    static const double b[] = {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800,
                               1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0};
    if (x < 0.25) {
        double v = 0.0;
        for (int k = 8; k >= 0; k--) v = v * x + b[k];
        return v;
    }
    double t = sqrt(x);
    return sin(t) / t;
}

static double cinv(double x) {
    static const double b[] = {1.0 / 12, 1.0 / 720, 1.0 / 30240, 1.0 / 1209600, 1.0 / 47900160,
                               691.0 / 1307674368000.0, 1.0 / 74724249600.0};
    if (x < 0.25) {
        double v = 0.0;
        for (int k = 6; k >= 0; k--) v = v * x + b[k];
        return v;
    }
    double h = 0.5 * sqrt(x);
    return (1.0 - h / tan(h)) / x;
}

static void cross(const double *u, const double *v, double *w) {
    w[0] = u[1] * v[2] - u[2] * v[1];
    w[1] = u[2] * v[0] - u[0] * v[2];
    w[2] = u[0] * v[1] - u[1] * v[0];
}

static void act(const double *u, const double *y, double *out) {
    double s = u[0] * u[0] + u[1] * u[1] + u[2] * u[2], a[3], b[3];
    double p = sinc(s), q = sinc(0.25 * s);
    cross(u, y, a);
    cross(u, a, b);
    for (int i = 0; i < 3; i++) out[i] = y[i] + p * a[i] + 0.5 * q * q * b[i];
}

static void dexpinv(const double *u, const double *v, double *out) {
    double a[3], b[3], c = cinv(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    cross(u, v, a);
    cross(u, a, b);
    for (int i = 0; i < 3; i++) out[i] = v[i] - 0.5 * a[i] + c * b[i];
}

static const double inertia[3] = {1.0, 2.0, 3.0};

static void field(const double *y, double *out) {
    for (int i = 0; i < 3; i++) out[i] = -y[i] / inertia[i];
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    double h = 0.01, y[3] = {0.6, -0.3, 1.1}, k1[3], k2[3], k3[3], k4[3], u[3], v[3], z[3];
    struct timespec start, stop;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    for (long step = 0; step < n; step++) {
        field(y, k1);
        for (int i = 0; i < 3; i++) u[i] = 0.5 * h * k1[i];
        act(u, y, z); field(z, v); dexpinv(u, v, k2);
        for (int i = 0; i < 3; i++) u[i] = 0.5 * h * k2[i];
        act(u, y, z); field(z, v); dexpinv(u, v, k3);
        for (int i = 0; i < 3; i++) u[i] = h * k3[i];
        act(u, y, z); field(z, v); dexpinv(u, v, k4);
        for (int i = 0; i < 3; i++) u[i] = h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        act(u, y, z);
        for (int i = 0; i < 3; i++) y[i] = z[i];
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &stop);
    printf("%.17g %.17g %.17g %.9g\n", y[0], y[1], y[2],
           (stop.tv_sec - start.tv_sec) + 1e-9 * (stop.tv_nsec - start.tv_nsec));
    return 0;
}
