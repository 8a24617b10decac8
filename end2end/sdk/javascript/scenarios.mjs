// What both JavaScript drivers share: the stand-in's script of faults and its counts, and the comparison of what a client
// said with what it should have said. What is driven lies in `drive_*.mjs`.

// How long the stand-in's own pages may take, in milliseconds.
const CONTROL_LIMIT_MS = 10_000;

// The side of a stand-in that no vendor has: `/_standin/` beside its protocol.
export class StandIn {
  constructor(origin) {
    this.origin = origin;
  }

  async ask(method, path, body) {
    const answer = await fetch(`${this.origin}/_standin/${path}`, {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(CONTROL_LIMIT_MS),
    });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`${method} /_standin/${path}: ${answer.status} ${text}`);
    }
    return text ? JSON.parse(text) : undefined;
  }

  // Replaces the faults that it plays; none clears them.
  script(...faults) {
    return this.ask("PUT", "faults", faults);
  }

  // How often code was started in sandboxes with this tag, gone ones included.
  async executions(lease) {
    return (await this.ask("GET", "executions")).by_tag[lease] ?? 0;
  }

  // Those that are there.
  sandboxes() {
    return this.ask("GET", "sandboxes");
  }

  // Destroys every sandbox and plays no faults.
  async clear() {
    await this.script();
    await this.ask("DELETE", "sandboxes");
  }
}

// What a call gave, or the class of what it threw with those of the named fields that it has.
export async function said(call, names) {
  try {
    return await call();
  } catch (error) {
    const fields = names.map((name) => [name, error[name]]).filter(([, value]) => value !== undefined && value !== "");
    return { raised: error.constructor.name, ...Object.fromEntries(fields) };
  }
}

// What a traceback ends with: the lines before it differ between interpreters.
export function lastLine(text) {
  return text.trimEnd().split("\n").at(-1);
}

// A variable that says where the stand-in is; without it the program ends.
export function setting(name) {
  const value = process.env[name];
  if (!value) {
    console.error(`${name} is not set: run this by \`cargo xtask test --only sdk\``);
    process.exit(1);
  }
  return value;
}

// Plays every scenario and prints a line for each, with the difference where there is one. `hidden` maps what differs from run
// to run, such as ids, to what the table calls it. Ends the program: by 1 if anything differed.
export async function drive(client, standIn, scenarios, expected, hidden) {
  const named = new Set([...Object.keys(scenarios), ...Object.keys(expected)]);
  const differing = new Set([...named].filter((name) => !(name in scenarios && name in expected)));
  for (const name of differing) {
    console.log(`DIFFERS      ${client}: ${name} stands only in the table or only among the scenarios`);
  }
  for (const [name, play] of Object.entries(scenarios)) {
    await standIn.clear();
    const started = performance.now();
    const outcome = await play().catch((error) => ({ failed: `${error.constructor.name}: ${error.message}` }));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const [is, should] = [asText(outcome, hidden), asText(expected[name], new Map())];
    console.log(`${is === should ? "as expected" : "DIFFERS    "}  ${client}: ${name} (${seconds} s)`);
    if (is !== should) {
      differing.add(name);
      printDifference(should.split("\n"), is.split("\n"));
    }
  }
  await standIn.clear();
  console.log(`${client}: ${Object.keys(scenarios).length} scenarios, ${differing.size} differ`);
  process.exit(differing.size > 0 ? 1 : 0);
}

// An outcome as lines that can be compared: keys in order, nothing that is undefined.
function asText(outcome, hidden) {
  const sorted = (_, value) =>
    value && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  let text = JSON.stringify(outcome, sorted, 2) ?? "nothing";
  for (const [value, name] of hidden) {
    text = text.replaceAll(value, name);
  }
  return text;
}

function printDifference(should, is) {
  for (const line of should.filter((line) => !is.includes(line))) {
    console.log(`    expected: ${line.trim()}`);
  }
  for (const line of is.filter((line) => !should.includes(line))) {
    console.log(`    said:     ${line.trim()}`);
  }
}
