// From 27 providers to the two that matter: filter, order, choose, compare.
import { expect, expectNoSidewaysScroll, test } from "./fixtures";

test("a filter leaves out the rest, says how many, and stays in the address", async ({ page }) => {
  await page.goto("/");
  const rows = page.getByRole("rowheader");
  const all = await rows.count();
  await page.getByLabel("Isolation of any variant").selectOption("virtual_machine");
  await page.getByRole("checkbox", { name: "Open source" }).check();
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page).toHaveURL(/isolation=virtual_machine/);
  await expect(page).toHaveURL(/open_source=1/);
  expect(await rows.count()).toBeLessThan(all);
  await expect(page.getByRole("table")).toContainText("more are left out by the filter");
  await expect(page.getByRole("checkbox", { name: "Open source" })).toBeChecked();
  await expectNoSidewaysScroll(page);
});

test("a column orders both ways, and says so", async ({ page }) => {
  await page.goto("/?price=list");
  const header = page.getByRole("columnheader", { name: "An hour, USD" });
  await header.getByRole("link").click();
  await expect(header).toHaveAttribute("aria-sort", "ascending");
  const cheapest = await page.getByRole("rowheader").first().innerText();
  await header.getByRole("link").click();
  await expect(header).toHaveAttribute("aria-sort", "descending");
  expect(await page.getByRole("rowheader").first().innerText()).not.toBe(cheapest);
  await expect(page).toHaveURL(/price=list/);
});

test("the chosen are compared", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("checkbox", { name: "Compare Modal" }).check();
  await page.getByRole("checkbox", { name: "Compare E2B" }).check();
  await page.getByRole("button", { name: "Compare the chosen" }).click();
  await expect(page).toHaveURL(/\/compare\/e2b-vs-modal$/);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("E2B vs Modal");
});

test("one alone is answered with help", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("checkbox", { name: "Compare E2B" }).check();
  await page.getByRole("button", { name: "Compare the chosen" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("One is not a comparison");
});
