// A buyer with "E2B vs Daytona" in mind: from the catalog to the verdict, the differences, a link to send.
import { expect, test } from "./fixtures";

test("the catalog leads to the verdict", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("link", { name: "E2B vs Daytona" }).click();
  await expect(page).toHaveURL(/\/compare\/e2b-vs-daytona$/);
  await expect(page.getByRole("region", { name: "What decides" })).toMatchAriaSnapshot(`
    - region "What decides":
      - heading "What decides" [level=2]
      - list:
        - listitem:
          - heading "Same rates" [level=3]
        - listitem:
          - heading "Unequal bills if you just call create" [level=3]
        - listitem:
          - heading "A virtual machine against a container" [level=3]
        - listitem:
          - heading "What a timeout means, and what ends a forgotten sandbox" [level=3]
        - listitem:
          - heading "How you pay, and whose code it is" [level=3]
  `);
});

test("only differences leaves the equal rows out and stays in the address", async ({ page }) => {
  await page.goto("/compare/e2b-vs-daytona");
  const equal = page.getByRole("rowheader", { name: "Routed, USD per vCPU-second" });
  await expect(equal).toBeVisible();
  await page.getByRole("checkbox", { name: "Only differences" }).check();
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page).toHaveURL(/only_differences=1/);
  await expect(equal).toHaveCount(0);
  await expect(page.getByRole("checkbox", { name: "Only differences" })).toBeChecked();
});

test("a disputed cell shows every claim with its date", async ({ page }) => {
  await page.goto("/compare/e2b-vs-daytona");
  const row = page.getByRole("row", { name: /^SOC 2/ });
  await expect(row).toContainText("Type II in progress");
  await expect(row).toContainText("2026-06-23");
  await expect(row).toContainText("2026-09-04");
});

test("rows are rows and cells are cells on a small screen too", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto("/compare/e2b-vs-daytona");
  const table = page.getByRole("table", { name: "Isolation" });
  await expect(table.getByRole("row", { name: /^Isolation tier/ }).getByRole("cell")).toHaveCount(2);
});

test("the other order leads to the same page", async ({ page }) => {
  await page.goto("/compare/daytona-vs-e2b");
  await expect(page).toHaveURL(/\/compare\/e2b-vs-daytona$/);
});
