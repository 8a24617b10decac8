// What a text area lacks for code: Tab indents, and lines are counted. A plain module and no island: two listeners need no
// wasm, and the form works without them.

const code = document.querySelector("#code");
const lines = document.querySelector("[data-lines]");
document.querySelector("[data-keys]").hidden = false;

// After Escape the next Tab leaves, so that nobody is trapped who has only a keyboard.
let leaves = false;

code.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    leaves = true;
  } else if (event.key === "Tab" && !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey && !leaves) {
    event.preventDefault();
    const width = document.querySelector("#language").value === "javascript" ? 2 : 4;
    // Unlike setting the value, this can be undone.
    document.execCommand("insertText", false, " ".repeat(width));
  } else if (event.key !== "Shift") {
    leaves = false;
  }
});

function tell() {
  const text = code.value.endsWith("\n") ? code.value.slice(0, -1) : code.value;
  const count = text === "" ? 0 : text.split("\n").length;
  lines.textContent = `${count.toLocaleString("en")} lines`;
}

code.addEventListener("input", tell);
tell();
