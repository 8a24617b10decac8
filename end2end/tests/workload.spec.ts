// What a workload costs: the ranking, another peak, the way to a total; with scripts while typing, without by the form.
import { audit, expect, hasScripts, test } from "./fixtures";

const asked = "/calculator/workload?memory_gib=1&price=list";

test("the worked figures stand there, and the plan that they take", async ({ page }) => {
  await page.goto(asked);
  const row = page.getByRole("row", { name: /E2B/ });
  await expect(row).toContainText("$44.40");
  await expect(row).toContainText("Hobby");
  await expect(row).toContainText("$53.28");
  await expect(page.getByRole("row", { name: /Daytona/ })).toContainText("Tier 2");
  await audit(page);
  await audit(page, "dark");
});

test("one more at once takes a plan with a fee, which the address keeps", async ({ page }) => {
  await page.goto(asked);
  if (hasScripts()) {
    await expect(page.locator("html")).toHaveAttribute("data-islands", "awake");
  }
  await page.getByLabel("At once, at most").fill("21");
  if (!hasScripts()) {
    await page.getByRole("button", { name: "Calculate" }).click();
  }
  const row = page.getByRole("row", { name: /E2B/ });
  await expect(row).toContainText("$194.40");
  await expect(row).toContainText("plan fee $150.00");
  await expect(page).toHaveURL(/peak_concurrency=21/);
  const json = page.getByRole("link", { name: "JSON", exact: true });
  await expect(json).toHaveAttribute("href", /peak_concurrency=21/);
});

test("a total opens into the multiplication that made it, and stays open while one types", async ({ page }) => {
  await page.goto(asked);
  if (hasScripts()) {
    await expect(page.locator("html")).toHaveAttribute("data-islands", "awake");
  }
  const row = page.getByRole("row", { name: /E2B/ });
  await row.getByText("Why is mine different?").click();
  await expect(row).toContainText("1 × $0.000014 per vCPU-second × 8 s × 300,000 runs = $33.60");
  await expect(row.getByRole("group")).toHaveAttribute("open", "");
  if (hasScripts()) {
    await page.getByLabel("Runs a day").fill("20000");
    await expect(row).toContainText("600,000 runs = $67.20");
    await expect(row.getByRole("group")).toHaveAttribute("open", "");
  }
});

test("a comparison leads here with its own workload", async ({ page }) => {
  await page.goto("/compare/e2b-vs-daytona");
  await page.getByRole("link", { name: "Your own workload at these" }).click();
  await expect(page).toHaveURL(/runs_per_day=10000/);
  await expect(page.getByRole("row", { name: /E2B/ })).toContainText("$53.28");
});
