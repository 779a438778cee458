// The search: what a result shows of its page is prose; its formulas are read as text, code and tables are left out.
(function () {
  "use strict";

  const LEFT_OUT =
    ".bd-header-article, #jb-print-docs-body, .highlight, .cell_output, summary, .math:not(span), .prev-next-footer";
  const NAMES =
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ " +
    "sigma σ tau τ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω " +
    "times × cdot · circ ∘ pm ± mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ sim ~ in ∈ to → mapsto ↦ infty ∞ sum Σ int ∫ " +
    "partial ∂ nabla ∇ sqrt √ lVert ‖ rVert ‖ langle ⟨ rangle ⟩ dots … ldots … cdots … prime ′ ast * " +
    "sin sin cos cos tan tan cot cot sinh sinh cosh cosh coth coth exp exp log log tr tr det det max max min min dim dim";
  const words = NAMES.split(" ");
  const SIGNS = new Map(words.flatMap((name, n) => (n % 2 ? [] : [[name, words[n + 1]]])));

  // TeX as a line of text: what marks, spaces and dresses a letter goes.
  function read(tex) {
    return tex
      .replace(/^\s*\\\(|\\\)\s*$/g, "")
      .replace(/\\[td]?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))/g, (_, a, b, c, d) => `${a ?? b}/${c ?? d}`)
      .replace(/\\[,;:! ]/g, " ")
      .replace(/\\([A-Za-z]+)/g, (_, name) => SIGNS.get(name) ?? "")
      .replace(/[{}\\&]/g, "");
  }

  function prose(page) {
    const parsed = new DOMParser().parseFromString(page, "text/html");
    parsed.querySelectorAll(LEFT_OUT).forEach((part) => part.remove());
    parsed.querySelectorAll("span.math").forEach((formula) => { formula.textContent = read(formula.textContent); });
    // A term of the glossary is found by its name alone; what is worth showing stands below it.
    parsed.querySelectorAll("dt[id^=term-]").forEach((term) => {
      term.append(`: ${term.nextElementSibling?.textContent ?? ""}`);
    });
    return parsed.documentElement.outerHTML;
  }

  document.addEventListener("DOMContentLoaded", () => {
    if (typeof Search === "undefined") return;
    const text = Search.htmlToText;
    Search.htmlToText = (page, anchor) => text(prose(page), anchor).replace(/\s+/g, " ").trim();
  });
})();
