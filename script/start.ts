/**
 * The main job, shown: the real opencode with the plugin on a small project, Alice → Audit → Alice. By default the
 * scripted model answers, so no key is needed; `--model provider/model` uses your own provider.
 */
import { build } from "../packages/opencode/script/build"
import { live } from "./start/live"
import { rehearsed } from "./start/rehearsed"
import { tell } from "./start/tell"

const at = process.argv.indexOf("--model")
const model = at < 0 ? undefined : process.argv[at + 1]
if (at >= 0 && !/^[^/\s]+\/\S+$/.test(model ?? "")) {
  console.error('Say which model: npm start -- --model provider/model, for example "anthropic/claude-sonnet-4-5".')
  process.exit(2)
}

const plugin = (await build()).find(({ path }) => path.endsWith("server.js"))?.path
if (!plugin) throw new Error("the plugin was not built")
const story = model ? await live(plugin, model) : await rehearsed(plugin)
console.log(tell(story))
process.exit(story.outcome ? 0 : 1)
