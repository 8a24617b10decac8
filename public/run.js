// Follows a run that is not over: what is new is written into its page, and the page is asked for again at the end. A plain
// module and no island: it holds no state, and an event source needs no wasm.
// Everything it is told may come from hostile code: it is only ever text.

const live = document.querySelector("[data-live]");

// As the server shows it (`runs/output.rs`): controls, directions and what has no width become signs.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

function sign(letter) {
  const code = letter.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function inert(text) {
  return text.replaceAll("\r\n", "\n").replace(hidden, sign);
}

function follow() {
  // The header that asks again is for those who run no scripts.
  window.stop();
  const source = new EventSource(`/api${location.pathname.replace("/runs/", "/v1/runs/")}/events`);
  const say = (words) => live.replaceChildren(words);
  const again = () => {
    source.close();
    location.reload();
  };
  // Events begin at the beginning, and the page has some of them already.
  let begun = false;
  source.addEventListener("output", (event) => {
    if (!begun) {
      begun = true;
      for (const stream of document.querySelectorAll("[data-stream]")) stream.replaceChildren();
    }
    const { stream, text } = JSON.parse(event.data);
    const place = document.querySelector(`[data-stream="${stream === "stderr" ? "stderr" : "stdout"}"]`);
    if (place) place.append(inert(text));
    else again();
  });
  source.addEventListener("attempt_started", (event) => say(`Attempt at ${JSON.parse(event.data).provider} …`));
  source.addEventListener("attempt_ended", (event) => {
    const { provider, outcome } = JSON.parse(event.data);
    say(`Attempt at ${provider}: ${String(outcome).replaceAll("_", " ")}.`);
  });
  source.addEventListener("final", again);
  // A connection that cannot be had again: the page is asked instead.
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(again, 2000);
  });
}

if (live) follow();
