// The site stands: nothing about what its pages hold.
import { expect, test } from "@playwright/test";

test("the home page answers", async ({ page }) => {
  const response = await page.goto("/");
  expect(response?.status()).toBe(200);
});
