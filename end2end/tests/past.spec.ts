// The past, the changes, the other shapes of a page, and the way to correct a value.
import { audit, expect, expectNoSidewaysScroll, test } from "./fixtures";

test("a past day is asked for in the form, said on the page, and stays with its links", async ({ page }) => {
  await page.goto("/");
  await page.getByLabel("As of").fill("2026-06-01");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page).toHaveURL(/as_of=2026-06-01/);
  await expect(page.getByRole("note")).toContainText("The catalog as of 2026-06-01");
  await page.getByRole("rowheader", { name: "E2B" }).getByRole("link").click();
  await expect(page).toHaveURL(/\/sandboxes\/e2b\?as_of=2026-06-01$/);
  await expect(page.getByRole("note")).toContainText("The catalog as of 2026-06-01");
  await audit(page);
  await page.getByRole("link", { name: "Back to today" }).click();
  await expect(page).toHaveURL(/\/sandboxes\/e2b$/);
  await expect(page.getByRole("note")).toHaveCount(0);
});

test("changes are told and can be subscribed to", async ({ page, request }) => {
  await page.goto("/changes");
  await expect(page.getByRole("heading", { level: 2 }).first()).toContainText("Revision");
  await expect(page.getByRole("table", { name: "Dated values, the newest first" })).toContainText("E2B");
  const feed = await page.getByRole("link", { name: "Atom feed" }).getAttribute("href");
  const answer = await request.get(feed ?? "");
  expect(answer.headers()["content-type"]).toContain("application/atom+xml");
  expect(await answer.text()).toContain("<entry>");
});

test("a page leads to the same figures as JSON, CSV and Markdown", async ({ page, request }) => {
  await page.goto("/?vcpu=2&memory_gib=4&price=list");
  const shown = await page.getByRole("row", { name: /Freestyle/ }).getByRole("cell").nth(1).innerText();
  const figure = /[0-9.]+/.exec(shown)?.[0] ?? "nothing";
  for (const name of ["JSON", "CSV", "Markdown"]) {
    const address = await page.getByRole("link", { name, exact: true }).getAttribute("href");
    expect(address).toContain("?vcpu=2&memory_gib=4&price=list");
    expect(await (await request.get(address ?? "")).text()).toContain(figure);
  }
});

test("a value leads to its line and its correction", async ({ page }) => {
  await page.goto("/sandboxes/e2b");
  await page.getByRole("table", { name: /^What each plan costs/ }).getByRole("link", { name: "Correct" }).first().click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Suggest a correction");
  await expect(page.getByRole("main")).toContainText("catalog/e2b.toml, line");
  await audit(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
});

test("others are compared from a comparison", async ({ page }) => {
  await page.goto("/compare");
  await page.getByText("Compare others").click();
  await page.getByRole("checkbox", { name: "Daytona" }).uncheck();
  await page.getByRole("checkbox", { name: "Modal Sandboxes" }).check();
  await page.getByRole("button", { name: "Compare the chosen" }).click();
  await expect(page).toHaveURL(/\/compare\/e2b-vs-modal$/);
});
