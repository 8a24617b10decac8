// Every page: its heading, its landmarks, its size on a small screen, its accessibility.
import { audit, expect, expectNoSidewaysScroll, hasScripts, test } from "./fixtures";

const pages = [
  { path: "/", heading: "What a code sandbox costs, how it isolates, and what stops a runaway" },
  { path: "/sandboxes/e2b", heading: "E2B" },
  { path: "/sandboxes/daytona", heading: "Daytona" },
  { path: "/compare", heading: "E2B vs Daytona" },
  { path: "/compare/e2b-vs-daytona", heading: "E2B vs Daytona" },
  { path: "/calculator", heading: "What a runaway costs" },
  { path: "/calculator/workload", heading: "What a workload costs" },
  { path: "/try", heading: "Run code in a sandbox" },
  { path: "/changes", heading: "What changed" },
  { path: "/sandboxes/modal?as_of=2026-10-01", heading: "Modal Sandboxes" },
  { path: "/guide", heading: "Running code from agents" },
  { path: "/methodology", heading: "How this is made" },
  { path: "/api", heading: "The catalog as JSON" },
];

const failures = [
  { path: "/nothing/here", status: 404, heading: "Nothing here" },
  { path: "/sandboxes/dayton", status: 404, heading: "No such provider" },
  { path: "/runs/0123456789abcdef0123456789abcdef", status: 404, heading: "Nothing here" },
  { path: "/compare/e2b", status: 400, heading: "One is not a comparison" },
  { path: "/compare/e2b-vs-dayton", status: 404, heading: "Not all of these are in the catalog" },
];

for (const { path, heading } of pages) {
  test(`${path} shows what it is about, on any screen`, async ({ page }) => {
    const response = await page.goto(path);
    expect(response?.status()).toBe(200);
    await expect(page.getByRole("heading", { level: 1, name: heading, exact: true })).toBeVisible();
    await expect(page.getByRole("navigation", { name: "Main" }).getByRole("link")).toHaveCount(9);
    await expect(page.getByRole("contentinfo")).toContainText("Revision");
    await audit(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectNoSidewaysScroll(page);
    await audit(page, "dark");
  });
}

for (const { path, status, heading } of failures) {
  test(`${path} answers ${status} with help`, async ({ page }) => {
    const response = await page.goto(path);
    expect(response?.status()).toBe(status);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
    await expect(page.getByRole("main").getByRole("link").first()).toBeVisible();
    await audit(page);
  });
}

test("a page without an island loads no script and no wasm", async ({ page }) => {
  const loaded: string[] = [];
  page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto("/compare/e2b-vs-daytona");
  expect(loaded.filter((path) => /\.(js|wasm)$/.test(path))).toEqual([]);
});

test("the keyboard reaches the content first", async ({ page }) => {
  await page.goto("/");
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "To the content" })).toBeFocused();
  await page.keyboard.press("Enter");
  if (hasScripts()) {
    await expect(page.getByRole("main")).toBeFocused();
  }
});
