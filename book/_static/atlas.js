// The atlas of methods: its table is sorted by its headings and filtered, with the cards, by a few native controls.
(function () {
  "use strict";

  // What a cell is sorted by: its first number where it has one, with verdicts in an order of their own; dashes last.
  const VERDICTS = ["yes", "exact", "bounded", "wanders", "drifts", "no", "lost"];

  function key(text) {
    const word = VERDICTS.indexOf(text.split(" ")[0]);
    const number = text.match(/\d[\d.]*(?:e-?\d+)?/);
    if (word >= 0) return [0, word, number ? Number(number[0]) : 0];
    if (/^(?:below )?\d/.test(text)) return [0, Number(number[0]) - (text.startsWith("below") ? 1e-9 : 0), 0];
    return text === "–" || text === "" ? [2, 0, 0] : [1, text.toLowerCase(), 0];
  }

  function compared(a, b) {
    for (let n = 0; n < a.length; n++) if (a[n] !== b[n]) return a[n] < b[n] ? -1 : 1;
    return 0;
  }

  function sorted(rows, column, down) {
    const keyed = rows.map((row) => [key(row.cells[column].textContent.trim()), row]);
    keyed.sort((a, b) => {
      const last = (a[0][0] === 2) - (b[0][0] === 2); // dashes stay last either way
      return last || (down ? -1 : 1) * compared(a[0], b[0]);
    });
    return keyed.map((pair) => pair[1]);
  }

  function made(name, properties) {
    return Object.assign(document.createElement(name), properties);
  }

  function headings(table) {
    const body = table.tBodies[0];
    const cells = Array.from(table.tHead.rows[0].cells);
    cells.forEach((cell, column) => {
      const button = made("button", { type: "button", textContent: cell.textContent.trim() });
      cell.replaceChildren(button);
      cell.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const down = cell.getAttribute("aria-sort") === "ascending";
        cells.forEach((other) => other.setAttribute("aria-sort", "none"));
        cell.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...sorted(Array.from(body.rows), column, down));
      });
    });
  }

  function labelled(text, control) {
    const label = document.createElement("label");
    if (control.type === "checkbox") label.append(control, " " + text);
    else label.append(text + " ", control);
    return label;
  }

  function filters(table) {
    const rows = Array.from(table.tBodies[0].rows);
    const names = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent.trim());
    const at = (row, name) => row.cells[names.indexOf(name)].textContent.trim();
    const cards = new Map(
      rows.map((row) => {
        const target = row.cells[0].querySelector("a").hash.slice(1);
        const place = document.getElementById(decodeURIComponent(target));
        return [row, place && (place.closest("section") || place.nextElementSibling)];
      }),
    );
    const search = made("input", { type: "search", autocomplete: "off" });
    const family = made("select", {});
    family.append(made("option", { value: "", textContent: "all" }));
    for (const name of new Set(rows.map((row) => at(row, "family")))) {
      family.append(made("option", { value: name, textContent: name }));
    }
    const order = made("select", {});
    order.append(made("option", { value: "0", textContent: "any" }));
    for (const n of [2, 3, 4, 5, 6]) order.append(made("option", { value: String(n), textContent: String(n) }));
    const wishes = [
      ["symplectic", (row) => at(row, "symplectic") === "yes"],
      ["symmetric", (row) => at(row, "symmetric") === "yes"],
      ["energy bounded", (row) => /^(?:bounded|exact)/.test(at(row, "energy"))],
      ["same calls in each step", (row) => Number.isInteger(Number(at(row, "calls")))],
    ].map(([text, holds]) => ({ text, holds, box: made("input", { type: "checkbox" }) }));
    const count = made("output", {});
    count.setAttribute("aria-live", "polite");
    const form = made("form", { className: "atlas-filter" });
    form.append(labelled("Name", search), labelled("Family", family), labelled("Order at least", order));
    form.append(...wishes.map((wish) => labelled(wish.text, wish.box)));
    form.append(made("button", { type: "reset", textContent: "Show all" }), count);

    function filter() {
      const wanted = search.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const fits =
          at(row, "method").toLowerCase().includes(wanted) &&
          (!family.value || at(row, "family") === family.value) &&
          Number(at(row, "order")) >= Number(order.value) &&
          wishes.every((wish) => !wish.box.checked || wish.holds(row));
        row.hidden = !fits;
        if (cards.get(row)) cards.get(row).hidden = !fits;
        shown += fits;
      }
      for (const part of new Set(Array.from(cards.values(), (card) => card && card.parentElement.closest("section")))) {
        if (part) part.classList.toggle("atlas-empty", !part.querySelector(":scope > section:not([hidden])"));
      }
      count.textContent = `${shown} of ${rows.length} methods`;
    }

    form.addEventListener("input", filter);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(filter));
    const box = table.closest(".pst-scrollable-table-container") || table;
    box.before(form);
    filter();
  }

  function start() {
    const part = document.getElementById("all-methods");
    const table = part && (part.closest("section") || part).querySelector("table");
    if (!table) return;
    table.classList.add("atlas");
    filters(table);
    headings(table);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
