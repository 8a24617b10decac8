// Gives the code what snippets expect and `qjs --std` lacks: timers by their global names, and a console that shows
// values. Then runs it; the code is the interpreter's one argument.
{
  const timer = (start) => (callback, milliseconds = 0, ...values) =>
    start(() => callback(...values), milliseconds);
  globalThis.setTimeout = timer(os.setTimeout);
  globalThis.setInterval = timer(os.setInterval);
  globalThis.clearTimeout = os.clearTimeout;
  globalThis.clearInterval = os.clearInterval;

  const DEEPEST = 3;
  const isName = /^[A-Za-z_$][\w$]*$/;
  const show = (value, outer = []) => {
    if (typeof value === "string") return outer.length ? JSON.stringify(value) : value;
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "function") return `[Function: ${value.name || "(anonymous)"}]`;
    if (typeof value !== "object" || value === null) return String(value);
    if (value instanceof Error) return `${value}\n${value.stack}`.trimEnd();
    if (value instanceof Date || value instanceof RegExp) return String(value);
    if (outer.includes(value)) return "[Circular]";
    if (outer.length === DEEPEST) return Array.isArray(value) ? "[Array]" : "[Object]";
    const inner = (part) => show(part, [...outer, value]);
    const join = (parts, open, close) => (parts.length ? `${open} ${parts.join(", ")} ${close}` : open + close);
    const name = value.constructor?.name ?? "[Object: null prototype]";
    if (Array.isArray(value)) return join(value.map(inner), "[", "]");
    if (ArrayBuffer.isView(value) && value.length !== undefined)
      return `${name}(${value.length}) ` + join([...value].map(inner), "[", "]");
    if (value instanceof Set) return `Set(${value.size}) ` + join([...value].map(inner), "{", "}");
    if (value instanceof Map) {
      const pairs = [...value].map(([key, part]) => `${inner(key)} => ${inner(part)}`);
      return `Map(${value.size}) ` + join(pairs, "{", "}");
    }
    const parts = Object.entries(value).map(
      ([key, part]) => `${isName.test(key) ? key : JSON.stringify(key)}: ${inner(part)}`,
    );
    return (name === "Object" ? "" : `${name} `) + join(parts, "{", "}");
  };
  const printer = (file) => (...values) => {
    file.puts(values.map((value) => show(value)).join(" ") + "\n");
    // What was printed before the deadline is not lost.
    file.flush();
  };
  console.log = console.info = console.debug = printer(std.out);
  console.error = console.warn = printer(std.err);
}
std.evalScript(scriptArgs[0], { backtrace_barrier: true });
