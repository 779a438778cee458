// Names for screen readers: slider handles of the widgets, and buttons that the theme leaves unnamed.
(function () {
  "use strict";

  // A handle is called what the label beside it says, and announces the shown value, not an index.
  function nameHandle(handle) {
    var slider = handle.closest(".widget-hslider, .widget-vslider, .widget-slider");
    if (!slider) return;
    var label = slider.querySelector(".widget-label");
    var readout = slider.querySelector(".widget-readout");
    set(handle, "aria-label", label ? label.textContent.trim() : "value");
    if (readout) set(handle, "aria-valuetext", readout.textContent.trim());
  }

  // Writing only what differs keeps the observer from calling itself for ever.
  function set(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }

  function update() {
    document.querySelectorAll(".noUi-handle").forEach(nameHandle);
  }

  var waiting = false;
  function soon() {
    if (waiting) return;
    waiting = true;
    window.requestAnimationFrame(function () {
      waiting = false;
      update();
    });
  }

  function start() {
    update();
    new MutationObserver(soon).observe(document.body, {
      attributeFilter: ["aria-valuenow", "aria-valuetext"],
      characterData: true,
      childList: true,
      subtree: true,
    });
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
