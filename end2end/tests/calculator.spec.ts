// What a runaway costs: at first sight, with other numbers, with nonsense; with scripts while typing, without by the form.
import { audit, expect, hasScripts, test } from "./fixtures";

async function calculate(page: import("@playwright/test").Page): Promise<void> {
  if (!hasScripts()) {
    await page.getByRole("button", { name: "Calculate" }).click();
  }
}

async function awake(page: import("@playwright/test").Page): Promise<void> {
  await page.goto("/calculator");
  if (hasScripts()) {
    await expect(page.locator("html")).toHaveAttribute("data-islands", "awake");
  }
}

test("the founding figures stand there at first sight", async ({ page }) => {
  await page.goto("/calculator");
  for (const name of [/^E2B/, /^Daytona/]) {
    const table = page.getByRole("table", { name });
    await expect(table.getByRole("row", { name: /^One, an hour/ })).toContainText("$0.06048");
    await expect(table.getByRole("row", { name: /^One, a day/ })).toContainText("$1.45152");
    await expect(table.getByRole("row", { name: /^One, an hour/ })).toContainText("$0.09936");
  }
});

test("twenty runaways for eight hours cost what the sums say", async ({ page }) => {
  await awake(page);
  await page.getByLabel("Memory, GiB").fill("0");
  await page.getByLabel("Runaways").fill("20");
  await page.getByLabel("Noticed after, s").fill("28800");
  await page.getByLabel("Timeout, s").fill("90");
  await page.getByLabel("Attempts").fill("3");
  await calculate(page);
  const table = page.getByRole("table", { name: /^E2B/ });
  await expect(table.getByRole("row", { name: /^Until noticed/ })).toContainText("$9.6768");
  await expect(table.getByRole("row", { name: /^With the timeout/ })).toContainText("$0.09072");
  await expect(table.getByRole("row", { name: /^Saved by it/ })).toContainText("$9.58608");
  await expect(table.getByRole("row", { name: /If you send nothing: after 5 min/ })).toContainText("$0.1008");
  await expect(table.getByRole("row", { name: /Longest session of the plan: after 1 h/ })).toContainText("$1.2096");
});

test("list prices are one choice away", async ({ page }) => {
  await awake(page);
  await page.getByLabel("Price").selectOption("list");
  await calculate(page);
  await expect(page.getByRole("table", { name: /^E2B/ })).toContainText("$0.0828");
});

test("nonsense is said at the field and the rest is kept", async ({ page }) => {
  await awake(page);
  await page.getByLabel("Attempts").fill("3");
  await page.getByLabel("vCPU").fill("1e30");
  await calculate(page);
  await expect(page.getByLabel("vCPU")).toHaveValue("1e30");
  await expect(page.getByLabel("vCPU")).toHaveAttribute("aria-invalid", "true");
  await expect(page.getByLabel("vCPU")).toHaveAccessibleDescription(/0\.001 to 1024 is allowed/);
  await expect(page.getByLabel("Attempts")).toHaveValue("3");
});

test("with scripts nothing is asked of the server while typing, and the address keeps step", async ({ page }) => {
  test.skip(!hasScripts(), "without scripts the form asks the server");
  await awake(page);
  const asked: string[] = [];
  page.on("request", (request) => {
    // The browser itself looks at the icon again when the address changes.
    if (!request.url().includes("/favicon.svg")) {
      asked.push(request.url());
    }
  });
  await page.getByLabel("Runaways").fill("20");
  await expect(page.getByRole("table", { name: /^E2B/ }).getByRole("row", { name: /^Until noticed/ })).toContainText("$1.2096");
  await expect(page).toHaveURL(/runaways=20/);
  expect(asked).toEqual([]);
});

test("what hurts is not money, and the picture says in words what it shows", async ({ page }) => {
  await page.goto("/calculator?memory_gib=0&runaways=20&noticed_after_seconds=28800&plan=daytona:tier_1");
  const main = page.getByRole("main");
  await expect(main).toContainText("Agent-hours blocked");
  await expect(main).toContainText("10 of 10 (vCPU pool, Tier 1), 10 do not even start");
  await expect(page.getByRole("img", { name: /^Cost over time: .* after 8 h if nothing stops them/ })).toHaveCount(2);
  await audit(page);
});

test("others are reckoned with on request", async ({ page }) => {
  await awake(page);
  await page.getByText("Providers", { exact: true }).first().click();
  await page.getByRole("checkbox", { name: "Modal Sandboxes" }).check();
  await page.getByRole("button", { name: "Calculate" }).click();
  await expect(page.getByRole("table", { name: /^Modal Sandboxes/ })).toBeVisible();
  await expect(page.getByRole("table", { name: /^E2B/ })).toBeVisible();
});

test("a past day stays with the form", async ({ page }) => {
  await page.goto("/calculator?as_of=2026-11-01");
  await page.getByLabel("Runaways").fill("3");
  await page.getByRole("button", { name: "Calculate" }).click();
  await expect(page).toHaveURL(/as_of=2026-11-01/);
  await expect(page.getByRole("note")).toContainText("The catalog as of 2026-11-01");
});
