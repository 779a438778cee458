// Loaded between RequireJS and the widget manager, on pages with widgets only.
// The manager of ipywidgets was written for MathJax 2 and for a page that keeps its fonts beside
// itself; this teaches it MathJax 3 and where the fonts are.
(function () {
  "use strict";

  // 1. Every widget asks `MathJax.Hub.Queue(["Typeset", MathJax.Hub, element])`. MathJax 3 replaces
  //    window.MathJax when it has loaded, so each new value gets its Hub; hidden from MathJax itself,
  //    which reads its settings from the same object.
  var hub = {
    Queue: function (call) {
      var element = call && call[2];
      if (!element || !/[$\\]/.test(element.textContent || "")) return; // no formula in it
      var math = window.MathJax;
      if (math && math.startup && math.startup.promise) {
        math.startup.promise = math.startup.promise.then(function () {
          return math.typesetPromise([element]);
        });
      } // before that, MathJax finds the element when it starts
    },
  };
  var current;
  function withHub(value) {
    if (value && !value.Hub) Object.defineProperty(value, "Hub", { value: hub, configurable: true });
    current = value;
  }
  withHub(window.MathJax);
  Object.defineProperty(window, "MathJax", {
    configurable: true,
    enumerable: true,
    get: function () { return current; },
    set: withHub,
  });

  // 2. The fonts of the controls: the manager derives their folder from its module's name.
  var manager = document.querySelector('script[src*="html-manager@"]') || null;
  var folder = manager
    ? manager.src.replace(/\/[^/]*$/, "")
    : "https://cdn.jsdelivr.net/npm/@jupyter-widgets/html-manager@1.0.6/dist";
  window.require.config({ paths: { "@jupyter-widgets/html-manager/dist": folder } });
})();
