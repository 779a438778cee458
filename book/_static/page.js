// For screen readers: names for the slider handles of the widgets, and roles that Sphinx mixes up.
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

  // A row of buttons of which one is chosen: what the row is called, and which one it is.
  function nameButtons(row) {
    var label = row.querySelector(".widget-label");
    set(row, "role", "group");
    if (label) set(row, "aria-label", label.textContent.trim());
    row.querySelectorAll("button").forEach(function (button) {
      set(button, "aria-pressed", String(button.classList.contains("mod-active")));
    });
  }

  function update() {
    document.querySelectorAll(".noUi-handle").forEach(nameHandle);
    document.querySelectorAll(".widget-toggle-buttons").forEach(nameButtons);
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
    // Bibliographies are lists whose entries Sphinx gives a role that may not stand in a list.
    document.querySelectorAll('[role="list"] > [role="doc-biblioentry"]').forEach(function (entry) {
      entry.setAttribute("role", "listitem");
    });
    new MutationObserver(soon).observe(document.body, {
      attributeFilter: ["aria-valuenow", "aria-valuetext", "class"],
      characterData: true,
      childList: true,
      subtree: true,
    });
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
