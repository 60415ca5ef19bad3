import { configContent, globalConfigPath } from "./paths"
import { createConfigFiles, type ConfigFiles } from "./pass-over/store/config-file"

/** The preferences of a project as this process finds them: the environment's, the project's file and the user's. */
export const configFiles = (project: () => string, warn: (message: string) => void = () => {}): ConfigFiles =>
  createConfigFiles({ project, global: globalConfigPath(), content: configContent(), warn })
