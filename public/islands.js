// Wakes the islands of a page, in the order of the document. Loaded only by pages that have one.
// What Leptos would do by an inline script, which the site's policy does not allow.

// The name of the build: script, glue and wasm always belong together.
const build = new URL(import.meta.url).search;
const browserHalf = await import(`/pkg/thud.js${build}`);
await browserHalf.default({ module_or_path: `/pkg/thud.wasm${build}` });
browserHalf.hydrate();

// Children of an island are restored by the island round them, which leaves a function on their element.
async function wake(element, restoreChildren) {
  let restore = restoreChildren;
  if (element.tagName === "LEPTOS-ISLAND") {
    const island = browserHalf[element.dataset.component];
    if (island) {
      restore?.();
      await island(element);
    } else {
      console.warn(`there is no island ${element.dataset.component} in this build`);
    }
  } else if (element.tagName === "LEPTOS-CHILDREN") {
    restore = element.$$on_hydrate;
  }
  for (const child of element.children) {
    await wake(child, restore);
  }
}

await wake(document.body);
document.documentElement.dataset.islands = "awake";
