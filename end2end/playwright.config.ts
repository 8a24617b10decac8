// Browser tests of a running site: the same journeys with scripts and without. Starts no server and
// fetches no browser: `cargo xtask test` gives both by THUD_BASE_URL and CHROMIUM.
import { defineConfig } from "@playwright/test";

function required(name: string): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(`${name} is not set: run these tests by \`cargo xtask test --only browser\``);
  }
  return value;
}

export default defineConfig({
  testDir: "tests",
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  workers: 2,
  // An audit of the longest page takes some seconds on a slow machine.
  timeout: 90_000,
  retries: 0,
  reporter: "list",
  use: {
    baseURL: required("THUD_BASE_URL"),
    browserName: "chromium",
    launchOptions: {
      executablePath: required("CHROMIUM"),
      // Nothing leaves this machine, and the sandbox has no use under root.
      args: [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
  projects: [
    { name: "scripts", use: { javaScriptEnabled: true } },
    { name: "no-scripts", use: { javaScriptEnabled: false } },
  ],
});
