import { defineConfig } from "drizzle-kit"

export default defineConfig({
  dialect: "sqlite",
  schema: "./packages/opencode/src/pass-over/store/*.sql.ts",
  out: "./migration/sqlite",
})
