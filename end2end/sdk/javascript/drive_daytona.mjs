// Drives the stand-in of Daytona with the vendor's own JavaScript client, `@daytona/sdk`, and compares what it says with the
// table below. The table says what it was seen to say about the answers that the vendor documents.

import { randomUUID } from "node:crypto";

import { Daytona } from "@daytona/sdk";

import { StandIn, drive, lastLine, said, setting } from "./scenarios.mjs";

const CLIENT = "Daytona, JavaScript";
// The label that a sandbox carries, and its value here.
const LABEL = "thud_lease";
const LEASE = "sdk-daytona-javascript";
const WRONG_KEY = `dtn_${"0".repeat(64)}`;
// A sandbox that never was.
const NOBODY = "00000000-0000-4000-8000-000000000000";
// Seconds that a run may take in the scenarios of timeouts and in all others, and a teardown.
const SHORT = 1;
const LONG = 30;

const CPU_LIMIT = "Total CPU limit exceeded. Maximum allowed: 10.";
const RATE = "ThrottlerException: Too Many Requests";
const UNEXPECTED = "An unexpected error occurred.";
const MAINTENANCE = "Service is currently under maintenance. Please try again later.";
const HTML = "<html><head><title>502 Bad Gateway</title></head></html>";
const RUN_TIMED_OUT = {
  raised: "DaytonaProcessExecutionTimeoutError",
  message: "request timeout: command execution timeout",
  statusCode: 408,
  code: "PROCESS_EXECUTION_TIMEOUT",
  source: "DAYTONA_DAEMON",
};

const EXPECTED = {
  create_without_internet: {
    created: { state: "started", networkBlockAll: true, public: false, lease: LEASE },
    askedAgain: { state: "started", networkBlockAll: true, public: false, lease: LEASE },
    nameKept: true,
  },
  python_prints: { exitCode: 0, result: "hello from sandbox\nwarn\n" },
  python_raises: { exitCode: 1, resultEnds: "ZeroDivisionError: division by zero" },
  python_exits_3: { exitCode: 3, result: "" },
  python_times_out: RUN_TIMED_OUT,
  javascript_prints: { exitCode: 0, result: "42\n" },
  command_prints: { exitCode: 0, result: "hello\noops\n" },
  command_exits_3: { exitCode: 3, result: "bad\n" },
  command_is_killed: { exitCode: -1, result: "" },
  command_times_out: RUN_TIMED_OUT,
  interpreter_prints: { stdout: "hello from sandbox\n", stderr: "warn\n" },
  interpreter_raises: {
    name: "ZeroDivisionError",
    value: "division by zero",
    ends: "ZeroDivisionError: division by zero",
  },
  // This client takes the word `interrupted` for a good end and does not wait for the close that tells why.
  interpreter_times_out: { stdout: "", stderr: "" },
  session_prints: { exitCode: 0, stdout: "hello\n", stderr: "oops\n" },
  delete_twice: {
    second: {
      raised: "DaytonaNotFoundError",
      message: "Sandbox with ID or name {sandbox} not found",
      statusCode: 404,
    },
    run: {
      raised: "DaytonaNotFoundError",
      message: "not found: sandbox container not found: Error response from daemon: No such container",
      statusCode: 404,
      code: "NOT_FOUND",
    },
    left: [],
  },
  get_unknown: {
    raised: "DaytonaNotFoundError",
    message: `Sandbox with ID or name ${NOBODY} not found`,
    statusCode: 404,
  },
  list_by_labels: { both: ["{other}", "{sandbox}"], one: ["{other}"] },
  name_taken: {
    raised: "DaytonaConflictError",
    message: "Sandbox with name {name} already exists",
    statusCode: 409,
  },
  wrong_key: { raised: "DaytonaAuthenticationError", message: "Invalid credentials", statusCode: 401 },
  unknown_snapshot: {
    raised: "DaytonaValidationError",
    message: "Snapshot no-such-snapshot not found. Did you add it through the Daytona Dashboard?",
    statusCode: 400,
  },
  quota: { raised: "DaytonaValidationError", message: CPU_LIMIT, statusCode: 400 },
  rate_limited: { raised: "DaytonaRateLimitError", message: RATE, statusCode: 429, retryAfter: "7" },
  create_fails_500: { raised: "DaytonaInternalServerError", message: UNEXPECTED, statusCode: 500 },
  create_fails_502_html: { raised: "DaytonaBadGatewayError", message: HTML, statusCode: 502 },
  create_fails_503: { raised: "DaytonaServiceUnavailableError", message: MAINTENANCE, statusCode: 503 },
  create_gets_no_answer: { raised: "DaytonaConnectionError", left: [LEASE] },
  delete_fails_409: {
    raised: "DaytonaConflictError",
    message: "Sandbox state change in progress",
    statusCode: 409,
  },
  run_fails_500: {
    raised: "DaytonaInternalServerError",
    message: "internal server error: boom",
    statusCode: 500,
    code: "INTERNAL_SERVER_ERROR",
    source: "DAYTONA_DAEMON",
  },
  run_fails_502_empty: {
    raised: "DaytonaBadGatewayError",
    message: "Request failed with status code 502",
    statusCode: 502,
  },
  run_loses_its_answer: { run: "DaytonaConnectionError", executions: 1 },
  run_loses_its_end: { run: "DaytonaError", executions: 1 },
  unknown_fields: { exitCode: 0, result: "hello\n" },
  event_socket_refused: { created: "started", run: { exitCode: 0, result: "1\n" } },
};

const standIn = new StandIn(setting("DAYTONA_API_URL").replace(/\/api$/, ""));
// What the table calls the ids and names of this run.
const hidden = new Map();

const attempt = (call) => said(call, ["message", "statusCode", "code", "source"]);

// A sandbox without internet that is deleted when it stops; the table calls it `called`.
async function create({ at = new Daytona(), called = "{sandbox}", labels, ...more } = {}) {
  const asked = {
    language: "python",
    name: `thud-${randomUUID()}`,
    labels: { [LABEL]: LEASE, ...labels },
    networkBlockAll: true,
    autoStopInterval: 1,
    autoDeleteInterval: 0,
    ttlMinutes: 5,
    ...more,
  };
  hidden.set(asked.name, "{name}");
  const sandbox = await at.create(asked);
  hidden.set(sandbox.id, called);
  return sandbox;
}

// Does something with such a sandbox and deletes it afterwards.
async function inSandbox(use, options) {
  const sandbox = await create(options);
  try {
    return await use(sandbox);
  } finally {
    await standIn.script();
    await sandbox.delete();
  }
}

const look = (sandbox) => ({
  state: sandbox.state,
  networkBlockAll: sandbox.networkBlockAll,
  public: sandbox.public,
  lease: sandbox.labels[LABEL],
});

async function run(sandbox, code, timeout = LONG) {
  const { exitCode, result } = await sandbox.process.codeRun(code, undefined, timeout);
  return { exitCode, result };
}

async function command(sandbox, line, timeout = LONG) {
  const { exitCode, result } = await sandbox.process.executeCommand(line, undefined, undefined, timeout);
  return { exitCode, result };
}

const interpret = (sandbox, code, timeout = LONG) => sandbox.codeInterpreter.runCode(code, { timeout });

// The fault of an answer in the vendor's form of errors.
function answers(at, status, message, more = {}, headers = {}) {
  const body = JSON.stringify({ statusCode: status, message, timestamp: "2026-11-30T00:00:00.000Z", path: "/", ...more });
  return { at, do: { answer: { status, body, content_type: "application/json", headers } } };
}

// What is said of a sandbox that should not come to be; its id if it does.
const refused = (options) => attempt(async () => (await create(options)).id);

async function refusedBy(fault) {
  await standIn.script(fault);
  return refused();
}

const SCENARIOS = {
  create_without_internet: () =>
    inSandbox(async (sandbox) => {
      const again = await new Daytona().get(sandbox.id);
      return { created: look(sandbox), askedAgain: look(again), nameKept: hidden.get(again.name) === "{name}" };
    }),

  python_prints: () =>
    inSandbox((sandbox) =>
      run(sandbox, "import sys; print('hello from sandbox', flush=True); print('warn', file=sys.stderr)"),
    ),

  python_raises: () =>
    inSandbox(async (sandbox) => {
      const { exitCode, result } = await run(sandbox, "1/0");
      return { exitCode, resultEnds: lastLine(result) };
    }),

  python_exits_3: () => inSandbox((sandbox) => run(sandbox, "import sys; sys.exit(3)")),

  python_times_out: () => inSandbox((sandbox) => attempt(() => run(sandbox, "while True: pass", SHORT))),

  javascript_prints: () => inSandbox((sandbox) => run(sandbox, "console.log(6 * 7)"), { language: "javascript" }),

  command_prints: () => inSandbox((sandbox) => command(sandbox, "echo hello; echo oops >&2")),

  command_exits_3: () => inSandbox((sandbox) => command(sandbox, "echo bad >&2; exit 3")),

  command_is_killed: () => inSandbox((sandbox) => command(sandbox, "kill -9 $$")),

  command_times_out: () => inSandbox((sandbox) => attempt(() => command(sandbox, "sleep 600", SHORT))),

  interpreter_prints: () =>
    inSandbox(async (sandbox) => {
      const code = "import sys; print('hello from sandbox'); print('warn', file=sys.stderr)";
      const { stdout, stderr, error } = await interpret(sandbox, code);
      return { stdout, stderr, error };
    }),

  interpreter_raises: () =>
    inSandbox(async (sandbox) => {
      const { error } = await interpret(sandbox, "1/0");
      return { name: error.name, value: error.value, ends: lastLine(error.traceback) };
    }),

  interpreter_times_out: () =>
    inSandbox(async (sandbox) => {
      const { stdout, stderr, error } = await interpret(sandbox, "while True: pass", SHORT);
      return { stdout, stderr, error };
    }),

  session_prints: () =>
    inSandbox(async (sandbox) => {
      await sandbox.process.createSession("s1");
      const request = { command: "echo hello; echo oops >&2" };
      const { exitCode, stdout, stderr } = await sandbox.process.executeSessionCommand("s1", request);
      await sandbox.process.deleteSession("s1");
      return { exitCode, stdout, stderr };
    }),

  async delete_twice() {
    const sandbox = await create();
    await sandbox.delete(LONG, true);
    return {
      second: await attempt(() => sandbox.delete()),
      run: await attempt(() => run(sandbox, "print(1)")),
      left: await standIn.sandboxes(),
    };
  },

  get_unknown: () => attempt(() => new Daytona().get(NOBODY)),

  async list_by_labels() {
    const odd = { "router task": "a&b" };
    const found = async (labels) => {
      const ids = [];
      // One a page: the client follows the pages itself.
      for await (const { id } of new Daytona().list({ labels, limit: 1 })) {
        ids.push(hidden.get(id));
      }
      return ids.sort();
    };
    const listed = async () => ({ both: await found({ [LABEL]: LEASE }), one: await found(odd) });
    return inSandbox(() => inSandbox(listed, { called: "{other}", labels: odd }));
  },

  name_taken: () => inSandbox((sandbox) => refused({ name: sandbox.name })),

  wrong_key: () => refused({ at: new Daytona({ apiKey: WRONG_KEY }) }),

  unknown_snapshot: () => refused({ snapshot: "no-such-snapshot" }),

  quota: () => refusedBy(answers("create", 400, CPU_LIMIT, { error: "Bad Request" })),

  async rate_limited() {
    const limits = {
      "X-RateLimit-Limit-sandbox-create": "300",
      "X-RateLimit-Remaining-sandbox-create": "0",
      "X-RateLimit-Reset-sandbox-create": "7",
      "Retry-After-sandbox-create": "7",
    };
    await standIn.script(answers("create", 429, RATE, { error: "Too Many Requests" }, limits));
    const call = async () => (await create()).id;
    const { headers, ...outcome } = await said(call, ["message", "statusCode", "headers"]);
    return { ...outcome, retryAfter: headers?.["retry-after-sandbox-create"] };
  },

  create_fails_500: () => refusedBy(answers("create", 500, UNEXPECTED, { error: "Internal Server Error" })),

  create_fails_502_html: () =>
    refusedBy({ at: "create", do: { answer: { status: 502, body: HTML, content_type: "text/html" } } }),

  create_fails_503: () => refusedBy(answers("create", 503, MAINTENANCE, { error: "Service Unavailable" })),

  async create_gets_no_answer() {
    const { raised } = await refusedBy({ at: "create", do: { cut_after: {} }, times: 1 });
    return { raised, left: (await standIn.sandboxes()).map(({ labels }) => labels[LABEL]) };
  },

  delete_fails_409: () =>
    inSandbox(async (sandbox) => {
      await standIn.script(answers("delete", 409, "Sandbox state change in progress", { error: "Conflict" }));
      return attempt(() => sandbox.delete());
    }),

  run_fails_500: () =>
    inSandbox(async (sandbox) => {
      const told = { code: "INTERNAL_SERVER_ERROR", source: "DAYTONA_DAEMON", method: "POST" };
      await standIn.script(answers("run", 500, "internal server error: boom", told));
      return attempt(() => run(sandbox, "print(1)"));
    }),

  run_fails_502_empty: () =>
    inSandbox(async (sandbox) => {
      await standIn.script({ at: "run", do: { answer: { status: 502, body: "" } } });
      return attempt(() => run(sandbox, "print(1)"));
    }),

  run_loses_its_answer: () =>
    inSandbox(async (sandbox) => {
      const before = await standIn.executions(LEASE);
      await standIn.script({ at: "run", do: { cut_after: {} } });
      const { raised } = await attempt(() => run(sandbox, "print(1)"));
      return { run: raised, executions: (await standIn.executions(LEASE)) - before };
    }),

  run_loses_its_end: () =>
    inSandbox(async (sandbox) => {
      const before = await standIn.executions(LEASE);
      await standIn.script({ at: "run", do: { cut_within: { bytes: 18 } } });
      const { raised } = await attempt(() => run(sandbox, "print(1)"));
      return { run: raised, executions: (await standIn.executions(LEASE)) - before };
    }),

  unknown_fields: () =>
    inSandbox(async (sandbox) => {
      await standIn.script({ at: "any", do: { garble: { kind: "unknown_events" } } });
      await new Daytona().get(sandbox.id);
      return run(sandbox, "print('hello')");
    }),

  event_socket_refused: () =>
    inSandbox(async (sandbox) => ({ created: sandbox.state, run: await run(sandbox, "print(1)") }), {
      at: new Daytona({ useDeprecatedPolling: false }),
    }),
};

await drive(CLIENT, standIn, SCENARIOS, EXPECTED, hidden);
