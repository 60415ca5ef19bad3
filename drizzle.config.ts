import { defineConfig } from "drizzle-kit"

export default defineConfig({
  dialect: "sqlite",
  schema: "./packages/opencode/src/pass-over/store/pass-over.sql.ts",
  out: "./migration/sqlite",
})
