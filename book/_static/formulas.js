// Formulas: MathJax is started when text and widgets are there. It sets what is seen, then the rest in small pieces
// while nothing else happens, so that a long page answers at once; on paper and at its end everything is set.
(function () {
  "use strict";

  const link = document.getElementById("mathjax");
  const waiting = new Set(document.querySelectorAll(".math"));
  if (!link || !waiting.size) return;

  const PIECE = 100; // milliseconds that a piece should take
  const [LEAST, MOST] = [10, 40]; // formulas in a piece: after each the page is laid out and painted, which takes as long as some
  const NEAR = 100; // pixels: what is this close counts as seen, for fonts that come late move it a little
  let count = LEAST;

  // --- In which order ------------------------------------------------------------------------------------

  // Pixels to scroll until a formula is seen; what is folded comes last.
  function distance(formula) {
    if (formula.closest("details:not([open])")) return Infinity;
    const box = formula.getBoundingClientRect();
    return Math.max(box.top - innerHeight, -box.bottom, 0);
  }

  const inSight = () => Array.from(waiting).some((formula) => distance(formula) <= NEAR);

  function nearest() {
    const all = Array.from(waiting, (formula) => ({ formula, far: distance(formula) }));
    const seen = all.filter(({ far }) => far <= NEAR);
    const next = seen.length ? seen.slice(0, MOST) : all.sort((a, b) => a.far - b.far).slice(0, count);
    return next.map(({ formula }) => formula);
  }

  // --- Where the reader is -------------------------------------------------------------------------------

  // The place that a link led to stays where it is until the reader moves, also where a browser does not see to it.
  let target = null;
  const follow = () => { target = document.querySelector(":target"); };
  const height = () => (target ? target.getBoundingClientRect().top : 0);
  addEventListener("hashchange", follow);
  for (const moved of ["wheel", "touchmove", "keydown", "pointerdown"]) {
    addEventListener(moved, () => { target = null; }, { passive: true });
  }

  // --- On a narrow screen a formula that is too wide is set smaller, until it fits -----------------------------

  // The width of a formula, and the one that there is for it.
  function widths(formula) {
    const box = formula.getBoundingClientRect();
    if (formula.hasAttribute("display")) {
      if (formula.scrollWidth <= formula.clientWidth) return [0, box.width];
      const parts = Array.from(formula.querySelectorAll("mjx-math *"), (part) => part.getBoundingClientRect());
      return [Math.max(0, ...parts.filter((part) => part.width > 0).map((part) => part.right)) - box.left, box.width];
    }
    const block = formula.parentElement.closest("p, li, dd, dt, td, th, summary, div");
    const { paddingLeft, paddingRight } = getComputedStyle(block);
    return [box.width, block.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)];
  }

  function tooWide(formula) {
    if (window.innerWidth > 600) return null;
    const [needed, given] = widths(formula);
    if (needed <= given + 0.5 || given <= 0) return null;
    return Math.floor((98 * parseFloat(getComputedStyle(formula).fontSize) * given) / needed) / 100;
  }

  function fit(formulas) {
    for (const formula of formulas) {
      if (!formula.classList.contains("fitted")) continue;
      formula.style.removeProperty("--fit");
      formula.classList.remove("fitted");
    }
    const sizes = formulas.map(tooWide); // all are measured before any is changed: the page is laid out once
    formulas.forEach((formula, n) => {
      if (sizes[n] === null) return;
      formula.style.setProperty("--fit", `${sizes[n]}px`);
      formula.classList.add("fitted");
    });
  }
  const formulasOf = (place) => Array.from(place.querySelectorAll("mjx-container"));
  addEventListener("resize", () => fit(formulasOf(document)));

  // --- Setting them ----------------------------------------------------------------------------------------

  const idle = () =>
    new Promise((done) => {
      if (window.requestIdleCallback) requestIdleCallback(done, { timeout: 200 });
      else setTimeout(done, 10);
    });

  async function typeset() {
    follow();
    while (waiting.size) {
      const began = performance.now();
      const before = height();
      const next = nearest();
      next.forEach((formula) => waiting.delete(formula));
      await MathJax.typesetPromise(next);
      fit(next.flatMap(formulasOf));
      if (Math.abs(height() - before) > 1) target.scrollIntoView({ behavior: "instant" });
      const took = performance.now() - began;
      count = Math.max(LEAST, Math.min(MOST, Math.round((next.length * PIECE) / took)));
      // A formula is rarely as high as its TeX: what comes into sight by that does not wait either.
      if (!inSight()) await idle();
    }
  }

  addEventListener("beforeprint", () => {
    if (!window.MathJax.typeset) return; // not there yet
    const rest = Array.from(waiting);
    waiting.clear();
    MathJax.typeset(rest);
  });

  function load() {
    window.MathJax = window.MathJax || {};
    MathJax.startup = { ...MathJax.startup, pageReady: typeset };
    const script = document.createElement("script");
    script.src = link.href;
    script.addEventListener("error", () => {
      const note = document.createElement("p");
      note.className = "no-formulas";
      note.setAttribute("role", "status");
      note.textContent = "The script that sets the formulas comes from the network and could not be loaded: " +
        "they stand here as they are typed.";
      document.querySelector(".bd-article h1")?.after(note);
    });
    document.head.append(script);
  }
  // After the next picture of the page; in a window that nobody sees there is none.
  let begun = false;
  const begin = () => {
    if (!begun) load();
    begun = true;
  };
  requestAnimationFrame(() => setTimeout(begin));
  setTimeout(begin, 1000);
})();
