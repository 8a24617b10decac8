// What every journey is held to: an empty console, no request to anybody else, and, with scripts, a clean axe audit.
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";

export { expect };

export const test = base.extend<{ watched: void }>({
  watched: [
    async ({ page, baseURL }, use) => {
      const words: string[] = [];
      page.on("console", (message) => {
        // The browser itself reports the status of an error page that was asked for on purpose.
        if (message.location().url !== page.url() || !message.text().startsWith("Failed to load resource")) {
          words.push(`${message.type()}: ${message.text()}`);
        }
      });
      page.on("pageerror", (error) => words.push(`error: ${error.message}`));
      const strangers: string[] = [];
      page.on("request", (request) => {
        if (!request.url().startsWith(`${baseURL}/`) && request.url() !== baseURL) {
          strangers.push(request.url());
        }
      });
      await use();
      expect(words, "the console stays empty").toEqual([]);
      expect(strangers, "nobody else is asked").toEqual([]);
    },
    { auto: true },
  ],
});

/** Whether this project runs scripts; axe hangs without. */
export function hasScripts(): boolean {
  return test.info().project.name === "scripts";
}

/** Audits the page as it stands, contrast included. */
export async function audit(page: Page, colorScheme: "light" | "dark" = "light"): Promise<void> {
  if (!hasScripts()) {
    return;
  }
  await page.emulateMedia({ colorScheme });
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.map((one) => `${colorScheme}: ${one.id}: ${one.nodes[0]?.html}`);
  expect(found).toEqual([]);
}

/** No part of the page stands outside the width of the screen. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  if (!hasScripts()) {
    return;
  }
  const excess = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(excess, "sideways scroll, in pixels").toBe(0);
}
