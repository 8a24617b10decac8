//! Code to begin with: what a sandbox is for, and what it is to withstand.

use crate::runs::Language;

/// An example in both languages.
pub struct Example {
    /// Its name in an address.
    pub word: &'static str,
    /// What it shows.
    pub label: &'static str,
    /// The wall clock that suits it, milliseconds.
    pub timeout_ms: &'static str,
    python: &'static str,
    javascript: &'static str,
}

impl Example {
    /// Its code.
    pub const fn code(&self, language: Language) -> &'static str {
        match language {
            Language::JavaScript => self.javascript,
            Language::Python | Language::Bash => self.python,
        }
    }
}

/// The example of a name.
pub fn find(word: &str) -> Option<&'static Example> {
    EXAMPLES.iter().find(|example| example.word == word)
}

/// All of them, the plain ones first.
pub const EXAMPLES: [Example; 9] = [
    Example {
        word: "hello",
        label: "Hello",
        timeout_ms: "10000",
        python: "import sys\n\nprint(\"Hello from Python\", sys.version.split()[0])\nprint(\"the squares:\", [n * n for n in range(10)])\n",
        javascript: "console.log(\"Hello from JavaScript\");\nconsole.log(\"the squares:\", [...Array(10).keys()].map((n) => n * n));\n",
    },
    Example {
        word: "versions",
        label: "Versions",
        timeout_ms: "10000",
        python: "import platform\nimport sys\n\nprint(\"Python\", platform.python_version(), \"by\", platform.python_implementation())\nprint(\"system:\", platform.system() or sys.platform, platform.release())\nprint(\"machine:\", platform.machine() or \"not told\")\nprint(\"byte order:\", sys.byteorder, \"and\", sys.maxsize.bit_length() + 1, \"bits\")\n",
        javascript: "const { versions = {}, platform = \"not told\", arch = \"not told\" } = globalThis.process ?? {};\nconsole.log(\"Node.js:\", versions.node ?? \"it is another engine\");\nconsole.log(\"V8:\", versions.v8 ?? \"no\");\nconsole.log(\"system:\", platform);\nconsole.log(\"machine:\", arch);\nconsole.log(\"newest method known:\", [\"toSorted\", \"findLast\", \"at\"].find((name) => [][name]) ?? \"an old one\");\n",
    },
    Example {
        word: "exception",
        label: "An exception",
        timeout_ms: "10000",
        python: "def share(cake, guests):\n    return cake / guests\n\n\nprint(share(12, 4))\nprint(share(12, 0))\n",
        javascript: "function share(cake, guests) {\n  if (guests === 0) throw new RangeError(\"nobody is there\");\n  return cake / guests;\n}\n\nconsole.log(share(12, 4));\nconsole.log(share(12, 0));\n",
    },
    Example {
        word: "loop",
        label: "An endless loop",
        timeout_ms: "2000",
        python: "# Nothing in here ends it: the time limit does, from outside.\ncount = 0\nwhile True:\n    count += 1\n    if count % 5_000_000 == 0:\n        print(count)\n",
        javascript: "// Nothing in here ends it: the time limit does, from outside.\nlet count = 0;\nwhile (true) {\n  count += 1;\n  if (count % 5_000_000 === 0) console.log(count);\n}\n",
    },
    Example {
        word: "files",
        label: "Reading the host's files",
        timeout_ms: "10000",
        python: "import os\n\nfor path in [\"/etc/passwd\", \"/proc/self/environ\", \"/root/.ssh/id_ed25519\"]:\n    try:\n        print(path, open(path).read(200))\n    except OSError as error:\n        print(path, \"->\", error)\nprint(\"environment:\", dict(os.environ))\n",
        javascript: "for (const path of [\"/etc/passwd\", \"/proc/self/environ\", \"/root/.ssh/id_ed25519\"]) {\n  const text = globalThis.std?.loadFile?.(path);\n  console.log(path, \"->\", text ?? \"nothing there\");\n}\nconsole.log(\"environment:\", globalThis.std?.getenviron?.());\n",
    },
    Example {
        word: "socket",
        label: "Opening a socket",
        timeout_ms: "10000",
        python: "try:\n    import socket\n\n    with socket.create_connection((\"example.com\", 80), timeout=3) as connection:\n        connection.sendall(b\"GET / HTTP/1.0\\r\\nHost: example.com\\r\\n\\r\\n\")\n        print(connection.recv(200))\nexcept Exception as error:\n    print(type(error).__name__, \"->\", error)\n",
        javascript: "console.log(\"fetch is\", typeof fetch, \"and require is\", typeof require);\n\n(async () => {\n  const answer = await fetch(\"http://example.com/\");\n  console.log(answer.status);\n})().catch((error) => console.log(String(error)));\n",
    },
    Example {
        word: "output",
        label: "100 MB of output",
        timeout_ms: "10000",
        python: "line = \"x\" * 1023\nfor number in range(100 * 1024):\n    print(line)\n",
        javascript: "const line = \"x\".repeat(1023);\nfor (let number = 0; number < 100 * 1024; number += 1) console.log(line);\n",
    },
    Example {
        word: "leave-state",
        label: "Leaving something for the next run",
        timeout_ms: "10000",
        python: "import builtins\nimport os\n\nbuiltins.left_behind = \"from the run before\"\nos.environ[\"LEFT_BEHIND\"] = \"from the run before\"\ntry:\n    with open(\"/tmp/left-behind\", \"w\") as file:\n        file.write(\"from the run before\")\n    print(\"a file is left in /tmp\")\nexcept OSError as error:\n    print(\"no file could be left:\", error)\nprint(\"now run the example that looks for it\")\n",
        javascript: "globalThis.leftBehind = \"from the run before\";\nArray.prototype.leftBehind = \"from the run before\";\nconst file = globalThis.std?.open?.(\"/tmp/left-behind\", \"w\");\nfile?.puts(\"from the run before\");\nconsole.log(file ? \"a file is left in /tmp\" : \"no file could be left\");\nconsole.log(\"now run the example that looks for it\");\n",
    },
    Example {
        word: "find-state",
        label: "Looking for what the last run left",
        timeout_ms: "10000",
        python: "import builtins\nimport os\n\nprint(\"in memory:\", getattr(builtins, \"left_behind\", \"nothing\"))\nprint(\"in the environment:\", os.environ.get(\"LEFT_BEHIND\", \"nothing\"))\ntry:\n    print(\"in /tmp:\", open(\"/tmp/left-behind\").read())\nexcept OSError as error:\n    print(\"in /tmp: nothing,\", error)\n",
        javascript: "console.log(\"in memory:\", globalThis.leftBehind ?? \"nothing\");\nconsole.log(\"in a prototype:\", [].leftBehind ?? \"nothing\");\nconsole.log(\"in /tmp:\", globalThis.std?.loadFile?.(\"/tmp/left-behind\") ?? \"nothing\");\n",
    },
];
