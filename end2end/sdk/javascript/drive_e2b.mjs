// Drives the stand-in of E2B with the vendor's own JavaScript clients, `e2b` and `@e2b/code-interpreter`, and compares what they
// say with the table below. The table says what they were seen to say about the answers that the vendor documents.

import { Sandbox } from "@e2b/code-interpreter";

import { StandIn, drive, lastLine, said, setting } from "./scenarios.mjs";

const CLIENT = "E2B, JavaScript";
// The tag that a sandbox carries, and its value here.
const TAG = "thud_lease";
const LEASE = "sdk-e2b-javascript";
// A key of the right form that the stand-in was not given.
const WRONG_KEY = `e2b_${"0".repeat(40)}`;
// A sandbox that never was.
const NOBODY = "i0000000000000000000";
// Milliseconds that a sandbox lives, and that a run may take in the scenarios of timeouts and in all others.
const LIFETIME_MS = 90_000;
const SHORT_MS = 1_000;
const LONG_MS = 30_000;

const GONE = "The sandbox was not found";
const ASK_SOONER =
  "You can modify the sandbox timeout by passing 'timeoutMs' when starting the sandbox or calling '.setTimeout' on the sandbox with the desired timeout.";
const TOO_MANY = "you have reached the maximum number of concurrent E2B sandboxes (20)";
const NOT_PLACED =
  "Failed to place sandbox: sandbox creation failed on 3 node(s), please retry; if the problem persists, contact us";
const NO_ROOM = "Failed to place sandbox: not enough capacity for the requested resources right now, please retry shortly";
const HTML = "<html><head><title>502 Server Error</title></head></html>";

const EXPECTED = {
  create_without_internet: {
    state: "running",
    allowInternetAccess: false,
    metadata: { [TAG]: LEASE },
    lives90s: true,
    isRunning: true,
  },
  create_with_some_internet: { allowOut: ["1.1.1.1/32", "api.example.com"], denyOut: ["0.0.0.0/0"] },
  python_prints: { stdout: "hello from sandbox\n", stderr: "warn\n", text: "42", executionCount: 1 },
  python_raises: {
    stdout: "before\n",
    error: { name: "ZeroDivisionError", value: "division by zero" },
    tracebackEnds: "ZeroDivisionError: division by zero",
  },
  python_exits_3: { stdout: "", error: { name: "SystemExit", value: "3" } },
  python_dies: { stdout: "", error: { name: "ContextRestarting", value: "Context was restarted" } },
  python_in_a_context: { language: "python", cwd: "/home/user", stdout: "hello\n" },
  python_times_out: {
    run: {
      raised: "TimeoutError",
      message: "Execution timed out — the 'timeoutMs' option can be used to increase this timeout",
    },
    kill: true,
  },
  javascript_prints: { stdout: "42\n" },
  command_prints: { stdout: "hello\n", stderr: "oops\n", exitCode: 0 },
  command_exits_3: {
    raised: "CommandExitError",
    message: "exit status 3",
    exitCode: 3,
    stderr: "bad\n",
    error: "exit status 3",
  },
  command_is_killed: { raised: "CommandExitError", message: "signal: killed", exitCode: -1, error: "signal: killed" },
  command_in_no_folder: { raised: "InvalidArgumentError", message: "[invalid_argument] cwd '/nope' does not exist" },
  command_in_the_background: { killed: true, killedAgain: false },
  command_times_out: {
    raised: "TimeoutError",
    message:
      "[deadline_exceeded] the operation timed out: This error is likely due to exceeding 'timeoutMs' — the total time a long running request (like command execution or directory watch) can be active. It can be modified by passing 'timeoutMs' when making the request. Use '0' to disable the timeout.",
  },
  base_template: {
    command: { stdout: "hello\n", stderr: "", exitCode: 0 },
    run: {
      raised: "TimeoutError",
      message: `{"sandboxId":"{sandbox}","message":"The sandbox is running but port is not open","port":49999,"code":502}: This error is likely due to sandbox timeout. ${ASK_SOONER}`,
    },
  },
  kill_twice: {
    first: true,
    second: false,
    isRunning: false,
    info: { raised: "SandboxNotFoundError", message: "Sandbox {sandbox} not found" },
    run: {
      raised: "TimeoutError",
      message: `{"sandboxId":"{sandbox}","message":"${GONE}","code":502}: This error is likely due to sandbox timeout. ${ASK_SOONER}`,
    },
    command: { raised: "SandboxNotFoundError", message: "Sandbox is probably not running anymore" },
  },
  kill_unknown: false,
  set_timeout: { lives45s: true },
  list_by_metadata: { both: ["{other}", "{sandbox}"], one: ["{other}"], pages: 2 },
  wrong_key: {
    raised: "AuthenticationError",
    message:
      "Unauthorized, please check your credentials. - Invalid API key, please visit https://e2b.dev/docs/api-key for more information.\nCannot get the team for the given API key",
  },
  unknown_template: { raised: "SandboxError", message: "404: template 'no-such-template' not found", statusCode: 404 },
  too_long_a_lifetime: { raised: "SandboxError", message: "400: Timeout cannot be greater than 1 hours", statusCode: 400 },
  rate_limited_once: { created: true, waited: true },
  too_many_sandboxes: {
    raised: "RateLimitError",
    message: `Rate limit exceeded, please try again later - ${TOO_MANY}`,
    statusCode: 429,
  },
  create_fails_500: { raised: "SandboxError", message: `500: ${NOT_PLACED}`, statusCode: 500 },
  create_fails_502_html: { raised: "SandboxError", message: `502: ${HTML}`, statusCode: 502 },
  create_fails_503: {
    raised: "ServiceBusyError",
    message: `Service temporarily unavailable, please retry - ${NO_ROOM}`,
    statusCode: 503,
  },
  run_fails_500: { raised: "SandboxError", message: "500 Internal Server Error" },
  run_fails_429: { raised: "SandboxError", message: "429 Too Many Requests" },
  kill_fails_500: {
    raised: "SandboxError",
    message: "500: Error killing sandbox: failed to remove sandbox",
    statusCode: 500,
  },
  run_loses_its_end: { run: "TypeError", executions: 1 },
  command_loses_its_end: { command: "SandboxError", executions: 1 },
  // This client does not notice that the last event is missing.
  run_without_its_end: { stdout: "partial\n" },
  unknown_events: { run: "hello\n", command: "hello\n" },
};

const standIn = new StandIn(setting("E2B_API_URL"));
// What the table calls the ids of this run.
const hidden = new Map();

const attempt = (call) => said(call, ["message", "statusCode", "exitCode", "stdout", "stderr", "error"]);

// A sandbox without internet, which the table calls `name`.
async function create({ name = "{sandbox}", template, ...more } = {}) {
  const closed = { allowInternetAccess: false, network: { allowPublicTraffic: false } };
  const options = { timeoutMs: LIFETIME_MS, metadata: { [TAG]: LEASE }, ...closed, ...more };
  const sandbox = await (template ? Sandbox.create(template, options) : Sandbox.create(options));
  hidden.set(sandbox.sandboxId, name);
  return sandbox;
}

// Does something with such a sandbox and kills it afterwards.
async function inSandbox(use, options) {
  const sandbox = await create(options);
  try {
    return await use(sandbox);
  } finally {
    await standIn.script();
    await sandbox.kill();
  }
}

// Whether the sandbox ends in so many seconds, give or take what a slow machine needs.
async function lives(sandbox, seconds) {
  const left = ((await sandbox.getInfo()).endAt.getTime() - Date.now()) / 1000;
  return seconds - 10 < left && left <= seconds + 1;
}

async function run(sandbox, code, more = {}) {
  const { logs, text, executionCount, error } = await sandbox.runCode(code, { timeoutMs: LONG_MS, ...more });
  return { stdout: logs.stdout.join(""), stderr: logs.stderr.join(""), text, executionCount, error };
}

async function command(sandbox, line, more = {}) {
  const { stdout, stderr, exitCode, error } = await sandbox.commands.run(line, { timeoutMs: LONG_MS, ...more });
  return { stdout, stderr, exitCode, error };
}

// The fault of an answer in the vendor's form of errors.
function answers(at, status, message, headers = {}, more = {}) {
  const body = JSON.stringify({ code: status, message });
  return { at, do: { answer: { status, body, content_type: "application/json", headers } }, ...more };
}

// The fault of an answer that is not JSON.
function says(at, status, body, contentType) {
  return { at, do: { answer: { status, body, content_type: contentType } } };
}

// What is said of a sandbox that should not come to be; its id if it does.
const refused = (options) => attempt(async () => (await create(options)).sandboxId);

async function refusedBy(fault) {
  await standIn.script(fault);
  return refused();
}

const nameAndValue = ({ name, value }) => ({ name, value });

const SCENARIOS = {
  create_without_internet: () =>
    inSandbox(async (sandbox) => {
      const { state, allowInternetAccess, metadata } = await sandbox.getInfo();
      const lives90s = await lives(sandbox, LIFETIME_MS / 1000);
      return { state, allowInternetAccess, metadata, lives90s, isRunning: await sandbox.isRunning() };
    }),

  create_with_some_internet() {
    const rules = { denyOut: ["0.0.0.0/0"], allowOut: ["1.1.1.1/32", "api.example.com"], allowPublicTraffic: false };
    const look = async (sandbox) => {
      const { allowOut, denyOut } = (await sandbox.getInfo()).network ?? {};
      return { allowOut, denyOut };
    };
    return inSandbox(look, { allowInternetAccess: undefined, network: rules });
  },

  python_prints: () =>
    inSandbox((sandbox) =>
      run(sandbox, "import sys; print('hello from sandbox'); print('warn', file=sys.stderr); 42"),
    ),

  python_raises: () =>
    inSandbox(async (sandbox) => {
      const { stdout, error } = await run(sandbox, "print('before')\n1/0");
      return { stdout, error: nameAndValue(error), tracebackEnds: lastLine(error.traceback) };
    }),

  python_exits_3: () =>
    inSandbox(async (sandbox) => {
      const { stdout, error } = await run(sandbox, "import sys; sys.exit(3)");
      return { stdout, error: nameAndValue(error) };
    }),

  python_dies: () =>
    inSandbox(async (sandbox) => {
      const { stdout, error } = await run(sandbox, "import os; os._exit(1)");
      return { stdout, error: nameAndValue(error) };
    }),

  python_in_a_context: () =>
    inSandbox(async (sandbox) => {
      const context = await sandbox.createCodeContext({ language: "python", cwd: "/home/user" });
      const { stdout } = await run(sandbox, "print('hello')", { context });
      return { language: context.language, cwd: context.cwd, stdout };
    }),

  async python_times_out() {
    const sandbox = await create();
    const code = "print('started')\nwhile True: pass";
    return { run: await attempt(() => run(sandbox, code, { timeoutMs: SHORT_MS })), kill: await sandbox.kill() };
  },

  javascript_prints: () =>
    inSandbox(async (sandbox) => {
      const { stdout, error } = await run(sandbox, "console.log(6 * 7)", { language: "javascript" });
      return { stdout, error };
    }),

  command_prints: () => inSandbox((sandbox) => command(sandbox, "echo hello; echo oops >&2")),

  command_exits_3: () => inSandbox((sandbox) => attempt(() => command(sandbox, "echo bad >&2; exit 3"))),

  command_is_killed: () => inSandbox((sandbox) => attempt(() => command(sandbox, "kill -9 $$"))),

  command_in_no_folder: () => inSandbox((sandbox) => attempt(() => command(sandbox, "true", { cwd: "/nope" }))),

  command_in_the_background: () =>
    inSandbox(async (sandbox) => {
      const process = await sandbox.commands.run("sleep 600", { background: true, timeoutMs: LONG_MS });
      // Nobody waits for its end, which is an error.
      process.wait().catch(() => {});
      return { killed: await process.kill(), killedAgain: await sandbox.commands.kill(process.pid) };
    }),

  command_times_out: () =>
    inSandbox((sandbox) => attempt(() => command(sandbox, "sleep 600", { timeoutMs: SHORT_MS }))),

  base_template: () =>
    inSandbox(
      async (sandbox) => ({
        command: await command(sandbox, "echo hello"),
        run: await attempt(() => run(sandbox, "print(1)")),
      }),
      { template: "base" },
    ),

  async kill_twice() {
    const sandbox = await create();
    return {
      first: await sandbox.kill(),
      second: await sandbox.kill(),
      isRunning: await sandbox.isRunning(),
      info: await attempt(() => sandbox.getInfo()),
      run: await attempt(() => run(sandbox, "print(1)")),
      command: await attempt(() => command(sandbox, "echo 1")),
    };
  },

  kill_unknown: () => Sandbox.kill(NOBODY),

  set_timeout: () =>
    inSandbox(async (sandbox) => {
      await sandbox.setTimeout(45_000);
      return { lives45s: await lives(sandbox, 45) };
    }),

  async list_by_metadata() {
    const odd = { "router task": "a&b=c" };
    const found = async (metadata, limit) => {
      const pages = Sandbox.list({ query: { metadata }, limit });
      const ids = [];
      let count = 0;
      for (; pages.hasNext; count += 1) {
        ids.push(...(await pages.nextItems()).map(({ sandboxId }) => hidden.get(sandboxId)));
      }
      return { ids: ids.sort(), count };
    };
    const listed = async () => {
      const both = await found({ [TAG]: LEASE }, 1);
      return { both: both.ids, one: (await found(odd, 100)).ids, pages: both.count };
    };
    return inSandbox(() => inSandbox(listed, { name: "{other}", metadata: { [TAG]: LEASE, ...odd } }));
  },

  wrong_key: () => refused({ apiKey: WRONG_KEY }),

  unknown_template: () => refused({ template: "no-such-template" }),

  too_long_a_lifetime: () => refused({ timeoutMs: 2 * 60 * 60 * 1000 }),

  async rate_limited_once() {
    const limits = { "RateLimit-Limit": "1", "RateLimit-Remaining": "0", "RateLimit-Reset": "1", "Retry-After": "1" };
    await standIn.script(answers("create", 429, "Rate limit exceeded", limits, { times: 1 }));
    const started = performance.now();
    return inSandbox(async () => ({ created: true, waited: performance.now() - started > 900 }));
  },

  too_many_sandboxes: () => refusedBy(answers("create", 429, TOO_MANY)),
  create_fails_500: () => refusedBy(answers("create", 500, NOT_PLACED)),
  create_fails_502_html: () => refusedBy(says("create", 502, HTML, "text/html")),
  create_fails_503: () => refusedBy(answers("create", 503, NO_ROOM)),

  run_fails_500: () =>
    inSandbox(async (sandbox) => {
      await standIn.script(says("run", 500, "Internal Server Error", "text/plain"));
      return attempt(() => run(sandbox, "print(1)"));
    }),

  run_fails_429: () =>
    inSandbox(async (sandbox) => {
      await standIn.script(says("run", 429, "busy", "text/plain"));
      return attempt(() => run(sandbox, "print(1)"));
    }),

  kill_fails_500: () =>
    inSandbox(async (sandbox) => {
      await standIn.script(answers("delete", 500, "Error killing sandbox: failed to remove sandbox"));
      return attempt(() => sandbox.kill());
    }),

  run_loses_its_end: () =>
    inSandbox(async (sandbox) => {
      const before = await standIn.executions(LEASE);
      await standIn.script({ at: "run", do: { cut_within: { bytes: 60 } } });
      const { raised } = await attempt(() => run(sandbox, "print('partial')"));
      return { run: raised, executions: (await standIn.executions(LEASE)) - before };
    }),

  command_loses_its_end: () =>
    inSandbox(async (sandbox) => {
      const before = await standIn.executions(LEASE);
      await standIn.script({ at: "run", do: { cut_within: { bytes: 60 } } });
      const { raised } = await attempt(() => command(sandbox, "echo partial"));
      return { command: raised, executions: (await standIn.executions(LEASE)) - before };
    }),

  run_without_its_end: () =>
    inSandbox(async (sandbox) => {
      await standIn.script({ at: "run", do: { garble: { kind: "no_end" } } });
      const { stdout, error } = await run(sandbox, "print('partial')");
      return { stdout, error };
    }),

  unknown_events: () =>
    inSandbox(async (sandbox) => {
      await standIn.script({ at: "run", do: { garble: { kind: "unknown_events" } } });
      const { stdout } = await run(sandbox, "print('hello')");
      return { run: stdout, command: (await command(sandbox, "echo hello")).stdout };
    }),
};

await drive(CLIENT, standIn, SCENARIOS, EXPECTED, hidden);
