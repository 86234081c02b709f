/** Builds the npm packages: the typed client, the tools over standard input and output, the command line, and adapters. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { adapters, buildAdapter } from './packages/adapters.ts'
import { buildCli, buildClient, buildMcp } from './packages/package.ts'

const help = `node scripts/packages.ts [--outdir dist]

Builds @agent-operating-account/client into <outdir>/client, @agent-operating-account/mcp into <outdir>/mcp and
@agent-operating-account/cli into <outdir>/cli; its adapters for agent frameworks into folders of their names. It
publishes nothing.`

if (import.meta.main) {
  const { values } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' }, outdir: { type: 'string', default: 'dist' } },
  })
  if (values.help) {
    console.log(help)
  } else {
    await buildClient(join(process.cwd(), values.outdir, 'client'))
    await buildMcp(join(process.cwd(), values.outdir, 'mcp'))
    await buildCli(join(process.cwd(), values.outdir, 'cli'))
    for (const adapter of adapters) {
      await buildAdapter(adapter, join(process.cwd(), values.outdir, adapter.name))
    }
  }
}
