/**
 * Runs the functions on Node in a process of their own, as `npm run serve` does, for the measurements. Takes its
 * settings as JSON in an environment variable, prints "ready" and ends with its parent.
 */
import * as z from 'zod'
import { buildOnNode, startOnNode } from '../local/on-node.ts'
import { createEndings } from '../local/process/endings.ts'

const settings = z.object({
  port: z.int(),
  directory: z.string(),
  databaseUrl: z.string(),
  bindings: z.record(z.string(), z.string()),
})

const { port, directory, databaseUrl, bindings } = settings.parse(
  JSON.parse(process.env['SERVE_ARM'] ?? '{}'),
)
const endings = createEndings(new AbortController().signal)
const functions = await buildOnNode(directory)
const say = (line: string) => console.error(line)
await startOnNode({ functions, port, directory, databaseUrl, bindings, endings, say })
process.on('disconnect', () => void endings.endAll().finally(() => process.exit(0)))
process.send?.('ready')
