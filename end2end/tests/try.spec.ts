// Code from the page: run, refused, timed out, tried at several providers; its receipt; with scripts and without.
import { type Page } from "@playwright/test";
import { audit, expect, expectNoSidewaysScroll, hasScripts, test } from "./fixtures";

const token = process.env.THUD_TOKEN ?? "";

async function run(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page).toHaveURL(/\/runs\/[0-9a-f]{32}/);
}

/** Runs an example without a token, once the sandbox of the site has warmed up. */
async function runExample(page: Page, query: string, change = async (): Promise<void> => {}): Promise<void> {
  await expect(async () => {
    await page.goto("/try");
    await expect(page.getByRole("main")).not.toContainText("is warming up", { timeout: 100 });
  }).toPass({ timeout: 80_000 });
  await page.goto(`/try?${query}`);
  await change();
  await run(page);
}

async function runAt(page: Page, providers: string): Promise<void> {
  await page.goto("/try");
  await page.getByLabel("Providers, in order").fill(providers);
  await page.getByLabel("Token", { exact: true }).fill(token);
  await run(page);
}

test("hello runs in the sandbox of the site and leaves a receipt", async ({ page }) => {
  await runExample(page, "example=hello&language=python");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It ran to its end");
  await expect(page.getByRole("region", { name: "Standard output" })).toContainText("the squares: [0, 1, 4, 9");
  const row = page.getByRole("table", { name: /^Every attempt/ }).getByRole("row").nth(1);
  await expect(row).toContainText("The code ran to its end.");
  await expect(row).toContainText("WebAssembly, confirmed by the platform");
  await expect(row).toContainText("destroyed, confirmed");
  await audit(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await audit(page, "dark");
  await page.getByRole("link", { name: "Edit and try again" }).click();
  await expect(page.getByLabel("Code", { exact: true })).toHaveValue(/^import sys\n/);
});

test("JavaScript runs too, and an exception is the code's own failure", async ({ page }) => {
  await runExample(page, "example=exception&language=javascript");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It ran, and failed by itself");
  await expect(page.getByRole("region", { name: "Standard error" })).toContainText("nobody is there");
});

test("an endless loop is ended by its limit, and the page follows it by itself", async ({ page }) => {
  await runExample(page, "example=loop&language=python");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It is running");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The time limit ended it", { timeout: 15_000 });
  await expect(page.getByRole("main")).toContainText("It is the code that wants changing, not the limit");
  await audit(page);
});

test("what was left behind is not there for the next run", async ({ page }) => {
  await runExample(page, "example=leave-state&language=python");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It ran to its end");
  await runExample(page, "example=find-state&language=python");
  const output = page.getByRole("region", { name: "Standard output" });
  await expect(output).toContainText("in memory: nothing");
  await expect(output).toContainText("in the environment: nothing");
  await expect(output).toContainText("in /tmp: nothing");
});

test("where the first refuses, the second runs it", async ({ page }) => {
  await runAt(page, "scripted-refuses, scripted-runs");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It ran to its end");
  const table = page.getByRole("table", { name: /^Every attempt/ });
  await expect(table.getByRole("row", { name: /^1\. scripted-refuses/ })).toContainText(
    "no capacity, HTTP 503. No code had run. The next was tried.",
  );
  await expect(table.getByRole("row", { name: /^2\. scripted-runs/ })).toContainText("The code ran to its end.");
  await audit(page);
});

test("where the first hangs, the second runs it after its share of time", async ({ page }) => {
  await runAt(page, "scripted-hangs, scripted-runs");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It ran to its end", { timeout: 15_000 });
  const table = page.getByRole("table", { name: /^Every attempt/ });
  await expect(table.getByRole("row", { name: /^1\. scripted-hangs/ })).toContainText("did not start in time");
});

test("what failed after the code started is not run again, and the page says why", async ({ page }) => {
  await runAt(page, "scripted-loses, scripted-runs");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("What it did is not known");
  await expect(page.getByRole("main")).toContainText("It is never run again, by nobody");
  await expect(page.getByRole("table", { name: /^Every attempt/ }).getByRole("row")).toHaveCount(2);
  await expect(page.getByRole("listitem").filter({ hasText: "scripted-runs" })).toContainText("not needed");
});

test("what is refused is not lost", async ({ page }) => {
  await page.goto("/try?example=hello&language=python");
  await page.getByLabel("Code", { exact: true }).fill("print('mine')\n");
  await page.getByLabel("Time limit, ms").fill("ten");
  await run(page);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It was not run");
  await audit(page);
  await page.getByRole("link", { name: "Edit and try again" }).click();
  await expect(page.getByLabel("Code", { exact: true })).toHaveValue("print('mine')\n");
  await expect(page.getByLabel("Time limit, ms")).toHaveValue("ten");
  await expect(page.getByLabel("Time limit, ms")).toHaveAccessibleDescription(/must be 100 to/);
});

test("the quote says who would be tried, keeps what is typed, and never shows a token", async ({ page }) => {
  await page.goto("/try");
  await expect(page.getByRole("table", { name: "Who would be tried" }).getByRole("row", { name: /^scripted-runs/ })).toContainText(
    "not permitted",
  );
  await page.getByLabel("Code", { exact: true }).fill("print('mine')\n");
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Show the quote" }).click();
  await expect(page.getByRole("main")).toContainText("With the token “browser-tests”");
  await expect(page.getByRole("table", { name: "Who would be tried" }).getByRole("row", { name: /^scripted-refuses/ })).toContainText(
    "tried",
  );
  await expect(page.getByLabel("Code", { exact: true })).toHaveValue("print('mine')\n");
  await expect(page.getByLabel("Token", { exact: true })).toHaveValue("");
  expect(page.url()).not.toContain("thud_");
  expect(await page.content()).not.toContain(token);
  await audit(page);
});

test("Tab indents code, and the keyboard is not trapped", async ({ page }) => {
  test.skip(!hasScripts(), "without scripts Tab leaves at once");
  await page.goto("/try");
  const code = page.getByLabel("Code", { exact: true });
  await code.fill("");
  await code.press("Tab");
  await page.keyboard.type("pass\nx");
  await expect(code).toHaveValue("    pass\nx");
  await expect(page.getByText("2 lines")).toBeVisible();
  await code.press("Escape");
  await code.press("Tab");
  await expect(page.getByLabel("Providers, in order")).toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await expect(code).toBeFocused();
  await code.press("Shift+Tab");
  await expect(page.getByLabel("Time limit, ms")).toBeFocused();
});

test("what arrives while it runs is text, and the page is not asked for by the header", async ({ page }) => {
  test.skip(!hasScripts(), "without scripts the header asks");
  let asked = 0;
  page.on("request", (request) => {
    asked += Number(request.isNavigationRequest() && request.url().includes("/runs/"));
  });
  await page.goto("/try?timeout_ms=9000&language=python");
  await page.getByLabel("Code", { exact: true }).fill(
    [
      "import time",
      "time.sleep(2)",
      String.raw`print("<b id='evil'>x</b>\x1b[2J\u202etxt\u200b")`,
      "time.sleep(6)",
    ].join("\n"),
  );
  await run(page);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It is running");
  await expect(page.getByRole("region", { name: "Standard output" })).toHaveText(
    "<b id='evil'>x</b>␛[2J⟨U+202E⟩txt⟨U+200B⟩",
    { timeout: 10_000 },
  );
  await expect(page.locator("#evil")).toHaveCount(0);
  // The header would have asked again by now. The end of the run does so, once.
  expect(asked).toBe(1);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It ran to its end", { timeout: 15_000 });
  expect(asked).toBe(2);
});

test("the page says which providers are ready, and how the others are unlocked", async ({ page }) => {
  await page.goto("/try");
  const table = page.getByRole("table", { name: "Which are ready, and why others are not" });
  await expect(table.getByRole("row", { name: /^scripted-runs/ })).toContainText("ready; needs a token");
  await expect(page.getByRole("region", { name: "How a token is made" })).toContainText("thud token create --name");
});

test("a drill shows what follows a failure", async ({ page }) => {
  for (const [drill, status] of [
    ["the first refuses", "HTTP 503"],
    ["the first says too many requests", "HTTP 429"],
  ] as const) {
    await runExample(page, "example=hello", async () => {
      await page.getByLabel("Drill", { exact: true }).selectOption(drill);
    });
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("It ran to its end");
    await expect(page.getByRole("main")).toContainText(`A drill: ${drill}`);
    const table = page.getByRole("table", { name: /^Every attempt/ });
    await expect(table.getByRole("row", { name: /^1\. drill/ })).toContainText(status);
    await expect(table.getByRole("row", { name: /^2\. local/ })).toContainText("The code ran to its end.");
  }
  await audit(page);
  await page.getByRole("link", { name: "Edit and try again" }).click();
  await expect(page.getByLabel("Drill", { exact: true })).toHaveValue("rate_limits");
});

test("a drill that never answers costs its share of time and no more", async ({ page }) => {
  await runExample(page, "example=hello&drill=hangs");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It ran to its end", { timeout: 15_000 });
  const table = page.getByRole("table", { name: /^Every attempt/ });
  await expect(table.getByRole("row", { name: /^1\. drill/ })).toContainText("start 2");
});

test("a drill that fails after the code started is the end", async ({ page }) => {
  await runExample(page, "example=hello&drill=fails_after_start");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("What it did is not known");
  await expect(page.getByRole("listitem").filter({ hasText: "local" })).toContainText("not needed");
  await audit(page);
  await audit(page, "dark");
});

test("a snippet runs at two providers, side by side", async ({ page }) => {
  await page.goto("/try?example=versions&language=python");
  await page.getByLabel("Providers, in order").fill("scripted-runs, local");
  await page.getByLabel("Isolation, at least").selectOption("process");
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Run on two and compare" }).click();
  await expect(page).toHaveURL(/\/runs\/[0-9a-f]{32}\/and\/[0-9a-f]{32}$/);
  await expect(page.getByRole("main")).toContainText("The output differs from line 1 on", { timeout: 15_000 });
  await expect(page.getByRole("region", { name: "Standard output of local" })).toContainText("Python 3.14");
  const table = page.getByRole("table", { name: /^What the receipts say/ });
  await expect(table.getByRole("row", { name: /^Isolation/ })).toContainText("WebAssembly, confirmed by the platform");
  await expect(table.getByRole("row", { name: /^Isolation/ })).toContainText("differs");
  await expect(table.getByRole("row", { name: /^Exit code/ })).not.toContainText("differs");
  await audit(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
  await audit(page, "dark");
  await page.getByRole("link", { name: "Edit and try again" }).click();
  await expect(page.getByLabel("Providers, in order")).toHaveValue("scripted-runs, local");
  await expect(page.getByLabel("Code", { exact: true })).toHaveValue(/^import platform\n/);
});

test("with only one provider at hand it is said what is missing", async ({ page }) => {
  await page.goto("/try?example=hello&language=python");
  await page.getByRole("button", { name: "Run on two and compare" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("It was not run");
  await expect(page.getByRole("main")).toContainText("only local can be used for this");
  await page.getByRole("link", { name: "Edit and try again" }).click();
  await expect(page.getByLabel("Code", { exact: true })).toHaveValue(/^import sys\n/);
});
