// The front page's simulation: a spherical pendulum under RK4 and under RKMK4, with the same steps, in the page.
// State y = [q, w]: the rod's direction from the pivot, its angular velocity; q' = w x q, w' = (g/l) e3 x q.
(function () {
  "use strict";

  const MASS = 2.0, LENGTH = 2.0, G = 9.81; // kg, m, m/s^2: the data of lielab.systems.SphericalPendulum
  const RATE = 25; // steps a second, whatever their size

  // --- The mathematics, in the letters of the book -----------------------------------------------------

  const cross = (a, b) => [
    a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
  ];
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const add = (...vectors) => vectors[0].map((_, i) => vectors.reduce((sum, v) => sum + v[i], 0));
  const scale = (s, a) => a.map((x) => s * x);
  const q = (y) => y.slice(0, 3), w = (y) => y.slice(3);

  const field = (y) => [...cross(w(y), q(y)), ...scale(G / LENGTH, cross([0, 0, 1], q(y)))];

  function rk4(y, h) {
    const k1 = field(y), k2 = field(add(y, scale(h / 2, k1)));
    const k3 = field(add(y, scale(h / 2, k2))), k4 = field(add(y, scale(h, k3)));
    return add(y, scale(h / 6, add(k1, scale(2, k2), scale(2, k3), k4)));
  }

  // SE(3) moves the state: f = (A, a) gives q' = A x q, w' = A x w + a x q.
  const f = (y) => [...w(y), 0, 0, G / LENGTH];

  function turn(A, v) { // exp(hat A) v
    const t = Math.hypot(...A), s = t ? Math.sin(t) / t : 1, c = t ? 2 * (Math.sin(t / 2) / t) ** 2 : 0.5;
    return add(v, scale(s, cross(A, v)), scale(c, cross(A, cross(A, v))));
  }

  function dexp(A, v) { // the integral of exp(s hat A) v over 0 < s < 1
    const t = Math.hypot(...A), c = t ? 2 * (Math.sin(t / 2) / t) ** 2 : 0.5;
    const e = t > 1e-2 ? (t - Math.sin(t)) / t ** 3 : 1 / 6 - t ** 2 / 120 + t ** 4 / 5040;
    return add(v, scale(c, cross(A, v)), scale(e, cross(A, cross(A, v))));
  }

  function act(u, y) { // exp(A, a) . (q, w) = (R q, R w + r x R q)
    const A = q(u), Rq = turn(A, q(y));
    return [...Rq, ...add(turn(A, w(y)), cross(dexp(A, w(u)), Rq))];
  }

  const bracket = (u, v) => [...cross(q(u), q(v)), ...add(cross(q(u), w(v)), cross(w(u), q(v)))];

  const EVEN = [ // B_2k/(2k)!, k = 1, 2, ...
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000, 43867 / 5109094217170944000, -174611 / 802857662698291200000,
  ];

  function dexpinv(u, v) { // v - [u, v]/2 + sum of B_2k/(2k)! ad_u^2k v
    let sum = add(v, scale(-0.5, bracket(u, v)));
    for (const b of EVEN) {
      v = bracket(u, bracket(u, v));
      sum = add(sum, scale(b, v));
    }
    return sum;
  }

  function rkmk4(y, h) {
    const k = (u) => dexpinv(u, f(act(u, y)));
    const k1 = f(y), k2 = k(scale(h / 2, k1)), k3 = k(scale(h / 2, k2)), k4 = k(scale(h, k3));
    return act(scale(h / 6, add(k1, scale(2, k2), scale(2, k3), k4)), y);
  }

  const length = (y) => LENGTH * Math.hypot(...q(y));
  const energy = (y) => 0.5 * MASS * LENGTH ** 2 * dot(w(y), w(y)) + MASS * G * LENGTH * y[2];

  // From rest nothing would leave the plane: the mass is pushed sideways, about the vertical.
  function start(direction) {
    const n = Math.hypot(...direction), e = scale(1 / n, direction);
    return [...e, ...add([0, 0, 1.5], scale(-1.5 * e[2], e))];
  }

  window.lielabPendulum = { rk4, rkmk4, energy, length, start };

  // --- The picture --------------------------------------------------------------------------------------

  const AZIMUTH = Math.PI / 6, ELEVATION = (25 * Math.PI) / 180;
  const EYE = [
    Math.cos(ELEVATION) * Math.cos(AZIMUTH), Math.cos(ELEVATION) * Math.sin(AZIMUTH), Math.sin(ELEVATION),
  ];
  const RIGHT = [-Math.sin(AZIMUTH), Math.cos(AZIMUTH), 0], UP = cross(EYE, RIGHT);
  const TRAIL = 160;

  function draw(canvas, path, color) {
    const size = canvas.clientWidth, dense = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(size * dense)) canvas.width = canvas.height = Math.round(size * dense);
    const pen = canvas.getContext("2d"), radius = 0.4 * size, styles = getComputedStyle(canvas);
    const place = (v) => [size / 2 + radius * dot(v, RIGHT), size / 2 - radius * dot(v, UP)];
    pen.setTransform(dense, 0, 0, dense, 0, 0);
    pen.clearRect(0, 0, size, size);
    pen.strokeStyle = pen.fillStyle = styles.getPropertyValue("--grey");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.arc(size / 2, size / 2, radius, 0, 2 * Math.PI);
    for (let i = 0; i <= 72; i++) { // the equator, at the height of the pivot
      const s = (i * Math.PI) / 36, point = place([Math.cos(s), Math.sin(s), 0]);
      if (i) pen.lineTo(...point); else pen.moveTo(...point);
    }
    pen.stroke();
    const ink = styles.getPropertyValue(color);
    pen.strokeStyle = pen.fillStyle = ink;
    pen.lineWidth = 1.2;
    for (let i = 1; i < path.length; i++) {
      pen.globalAlpha = (0.8 * i) / path.length;
      pen.beginPath();
      pen.moveTo(...place(q(path[i - 1])));
      pen.lineTo(...place(q(path[i])));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    pen.lineWidth = 2.5;
    const end = place(q(path[path.length - 1]));
    pen.beginPath();
    pen.moveTo(...place([0, 0, 0]));
    pen.lineTo(...end);
    pen.stroke();
    pen.beginPath();
    pen.arc(...end, 8, 0, 2 * Math.PI);
    pen.fill();
  }

  function direction(canvas, event) { // on the near side of the sphere
    const box = canvas.getBoundingClientRect(), radius = 0.4 * box.width;
    let x = (event.clientX - box.left - box.width / 2) / radius;
    let z = -(event.clientY - box.top - box.height / 2) / radius;
    const out = Math.hypot(x, z);
    if (out > 1) { x /= out; z /= out; }
    return add(scale(x, RIGHT), scale(z, UP), scale(Math.sqrt(Math.max(0, 1 - x * x - z * z)), EYE));
  }

  // --- The page -------------------------------------------------------------------------------------------

  function build(place) {
    place.innerHTML = `
      <div class="sides">
        ${["RK4", "RKMK4"].map((name) => `
          <figure><canvas role="img" aria-label="The pendulum under ${name}. Its numbers stand below."></canvas>
            <figcaption><b>${name}</b><br>rod <output class="rod"></output>&nbsp;m<br>
              energy <output class="energy"></output>&nbsp;J</figcaption></figure>`).join("")}
      </div>
      <div class="controls">
        <label>step <input type="range" min="0.02" max="0.4" step="0.01" value="0.3" autocomplete="off"></label>
        <output class="step"></output>
        <button type="button" class="play"></button>
        <button type="button" class="again">Start again</button>
      </div>`;
    const canvases = Array.from(place.querySelectorAll("canvas"));
    const slider = place.querySelector("input"), play = place.querySelector(".play");
    const steps = [rk4, rkmk4], colors = ["--rk4", "--rkmk4"];
    let begin = start([0.75, -0.35, -0.55]), paths = [], seen = true;
    let running = !window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    let last = 0, owed = 0;

    function numbers() {
      steps.forEach((_, n) => {
        const y = paths[n][paths[n].length - 1], rod = length(y), change = energy(y) - energy(begin);
        const figure = canvases[n].closest("figure");
        figure.querySelector(".rod").textContent = rod.toFixed(6);
        figure.querySelector(".energy").textContent = (change < 0 ? "−" : "+") + Math.abs(change).toFixed(4);
      });
    }
    function show() {
      canvases.forEach((canvas, n) => draw(canvas, paths[n], colors[n]));
      numbers();
    }
    function restart() {
      paths = steps.map(() => [begin]);
      show();
    }
    function step() {
      const h = Number(slider.value);
      paths = paths.map((path, n) => [...path.slice(-TRAIL), steps[n](path[path.length - 1], h)]);
      if (!(length(paths[0][paths[0].length - 1]) < 1.6 * LENGTH)) restart(); // RK4 has left the picture
    }
    function frame(now) {
      if (!running || !seen) return;
      owed = Math.min(owed + ((now - last) * RATE) / 1000, 3);
      last = now;
      const due = Math.floor(owed);
      for (let i = 0; i < due; i++) step();
      owed -= due;
      if (due) show();
      requestAnimationFrame(frame);
    }
    function go() {
      play.textContent = running ? "Pause" : "Play";
      last = performance.now();
      requestAnimationFrame(frame);
    }
    function label() {
      const text = `${Number(slider.value).toFixed(2)} s`;
      place.querySelector(".step").textContent = text;
      slider.setAttribute("aria-valuetext", text);
    }

    slider.addEventListener("input", () => { label(); restart(); });
    place.querySelector(".again").addEventListener("click", restart);
    play.addEventListener("click", () => { running = !running; go(); });
    for (const canvas of canvases) {
      const drag = (event) => { begin = start(direction(canvas, event)); restart(); };
      canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        drag(event);
      });
      canvas.addEventListener("pointermove", (event) => { if (event.buttons) drag(event); });
    }
    new IntersectionObserver(([entry]) => {
      const before = seen;
      seen = entry.isIntersecting;
      if (seen && !before) go();
    }).observe(place);
    new ResizeObserver(show).observe(place);
    new MutationObserver(show).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    label();
    restart();
    go();
    return { state: () => paths.map((path) => path[path.length - 1]), begin: () => begin };
  }

  function begin() {
    const place = document.querySelector(".lielab-live-demo");
    if (!place) return;
    window.lielabPendulum.page = build(place);
    document.documentElement.classList.add("lielab-demo-runs"); // hides the still picture
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
