// Shows /openapi.json: one line an operation, opened for its parameters, bodies and answers.
"use strict";

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

function row(...cells) {
  return element("tr", "", ...cells.map((cell) => element("td", cell)));
}

function schemaName(content) {
  const [type, held] = Object.entries(content || {})[0] || [];
  if (!type) return "";
  const name = (held.schema.$ref || "").split("/").pop();
  return name || type;
}

function shown(path, method, operation, schemas) {
  const summary = element("summary", "", element("b", method.toUpperCase()),
    element("code", path), element("span", "  " + operation.summary));
  const table = element("table");
  for (const one of operation["x-lochan-permissions"])
    table.append(row("needs", one.action + " on " + one.resource));
  for (const one of operation.parameters)
    table.append(row(one.in, one.name + (one.required ? " (required)" : ""), one.description || ""));
  const body = operation.requestBody && schemaName(operation.requestBody.content);
  if (body) table.append(row("body", body));
  for (const [status, answer] of Object.entries(operation.responses))
    if (status < "400") table.append(row(status, answer.description, schemaName(answer.content)));
  const details = element("details", "", summary, table);
  for (const name of new Set([body]))
    if (name in schemas) details.append(element("pre", name + " " + JSON.stringify(schemas[name], null, 2)));
  details.dataset.text = (method + " " + path + " " + operation.operationId + " " + operation.summary).toLowerCase();
  return details;
}

async function start() {
  const api = await (await fetch("/openapi.json")).json();
  const main = document.getElementById("operations");
  const sections = new Map();
  for (const [path, methods] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0];
      if (!sections.has(tag)) {
        const section = element("section", "", element("h2", tag));
        sections.set(tag, section);
        main.append(section);
      }
      sections.get(tag).append(shown(path, method, operation, api.components.schemas));
    }
  document.getElementById("filter").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(" ");
    for (const details of main.querySelectorAll("details"))
      details.hidden = !words.every((word) => details.dataset.text.includes(word));
    for (const section of sections.values())
      section.hidden = !section.querySelector("details:not([hidden])");
  });
}

start();
