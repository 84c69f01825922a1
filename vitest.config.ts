import { defineConfig, type ViteUserConfig } from "vitest/config";

const conditions = ["rookery-source", "module", "node", "development|production"];
const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts"],
    testTimeout: 20_000,
  },
});

export default config;
