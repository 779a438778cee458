// The pages' own script: the widgets of lielab.explore, films, and what printing and screen readers need.
(function () {
  "use strict";

  // --- Widgets: native controls, and pictures that are fetched when a control moves ---------------------

  function explorer(box) {
    const data = JSON.parse(box.querySelector("script").textContent);
    const picture = box.querySelector("img");
    const spoken = box.querySelector(".spoken");
    const controls = Array.from(box.querySelectorAll(".control"));
    const sizes = data.options.map((options) => options.length);
    let wanted = -1; // the picture that the controls ask for; a slower answer to an earlier move is dropped

    const value = (control) =>
      Number((control.querySelector(":checked") || control.querySelector("input")).value);
    const frame = (places) => places.reduce((sum, place, n) => sum * sizes[n] + place, 0);
    const fetched = (number) => {
      const next = new Image();
      next.src = data.folder + data.frames[number][0];
      return next;
    };

    function neighbours(places) {
      places.forEach((place, n) => {
        for (const step of [1, -1, 2, -2]) {
          const other = places.slice();
          other[n] = place + step;
          if (other[n] >= 0 && other[n] < sizes[n]) fetched(frame(other));
        }
      });
    }

    function show(places) {
      const number = (wanted = frame(places));
      const next = fetched(number);
      next.decode().then(
        () => {
          if (wanted !== number) return;
          picture.src = next.src;
          picture.alt = data.frames[number][1];
          spoken.textContent = picture.alt;
          spoken.classList.remove("failed");
          neighbours(places);
        },
        () => {
          if (wanted !== number) return;
          spoken.textContent = "This picture could not be fetched; the one above shows other values.";
          spoken.classList.add("failed");
        },
      );
    }

    function moved() {
      const places = controls.map(value);
      controls.forEach((control, n) => {
        const range = control.querySelector("[type=range]");
        if (!range) return;
        const label = data.options[n][places[n]];
        range.setAttribute("aria-valuetext", label);
        control.querySelector("output").textContent = label;
      });
      show(places);
    }

    box.addEventListener("input", moved);
    const warm = () => neighbours(controls.map(value));
    box.addEventListener("pointerenter", warm, { once: true });
    box.addEventListener("focusin", warm, { once: true });
    box.classList.add("alive");
  }

  // --- Films: fetched when they are about to be seen ----------------------------------------------------

  function films() {
    const seen = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (!entry.isIntersecting) continue;
          entry.target.style.backgroundImage = `url(${entry.target.dataset.film})`;
          seen.unobserve(entry.target);
        }
      },
      { rootMargin: "200px" },
    );
    document.querySelectorAll("[data-film]").forEach((film) => seen.observe(film));
  }

  // --- Printing: what is folded is opened -----------------------------------------------------------------

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll(".bd-article details:not([open])"));
    opened.forEach((fold) => { fold.open = true; });
    document.querySelectorAll("img[loading=lazy]").forEach((img) => { img.loading = "eager"; });
  });
  window.addEventListener("afterprint", () => {
    opened.forEach((fold) => { fold.open = false; });
  });

  function start() {
    document.querySelectorAll(".lielab-explore").forEach(explorer);
    films();
    // The theme leaves the way to the front page, in the side bar, outside of all landmarks.
    document.querySelectorAll(".sidebar-primary-item:has(> .navbar-brand)").forEach((item) => {
      item.setAttribute("role", "navigation");
      item.setAttribute("aria-label", "Front page");
    });
    // Bibliographies are lists whose entries Sphinx gives a role that may not stand in a list.
    document.querySelectorAll('[role="list"] > [role="doc-biblioentry"]').forEach((entry) => {
      entry.setAttribute("role", "listitem");
    });
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
