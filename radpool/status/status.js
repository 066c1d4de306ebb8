// Loads the page again and again, and takes over what has changed in it: so what is
// shown is made in one place, the server, and stays the same without JavaScript.
"use strict";

(() => {
  const every = 2000; // milliseconds
  const patience = 5000;
  const live = document.getElementById("live");
  const button = document.getElementById("pause");
  let paused = false;
  let timer = 0;

  // become makes node what fresh is, and touches only what differs: so the focus, what
  // is selected and where a screen reader is stay as they are.
  function become(node, fresh) {
    if (node.nodeType !== fresh.nodeType || node.nodeName !== fresh.nodeName) {
      node.replaceWith(document.importNode(fresh, true));
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) {
      if (node.data !== fresh.data) node.data = fresh.data;
      return;
    }
    for (const { name, value } of fresh.attributes) {
      if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
    for (const { name } of [...node.attributes]) {
      const theirs = name === "open"; // of details: who reads has opened it
      if (!theirs && !fresh.hasAttribute(name)) node.removeAttribute(name);
    }
    const old = [...node.childNodes];
    const now = [...fresh.childNodes];
    now.forEach((child, i) => {
      if (i < old.length) become(old[i], child);
      else node.append(document.importNode(child, true));
    });
    for (const gone of old.slice(now.length)) gone.remove();
  }

  async function load() {
    try {
      const answer = await fetch(location.pathname, { cache: "no-store", signal: AbortSignal.timeout(patience) });
      if (!answer.ok) throw new Error(answer.statusText);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (paused) return;
      for (const id of ["status", "live"]) become(document.getElementById(id), fresh.getElementById(id));
      live.textContent += ", live";
    } catch {
      if (!live.textContent.endsWith("no answer since")) {
        live.textContent = live.textContent.replace(", live", "") + ", no answer since";
      }
    }
  }

  async function loop() {
    clearTimeout(timer);
    if (paused || document.hidden) return;
    await load();
    clearTimeout(timer);
    timer = setTimeout(loop, every);
  }

  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
    if (paused) live.textContent = live.textContent.replace(", live", ", paused");
    loop();
  });
  document.addEventListener("visibilitychange", loop);
  timer = setTimeout(loop, every);
})();
