/** Builds the npm packages: the typed client, and the tools over standard input and output. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildClient, buildMcp } from './packages/package.ts'

const help = `node scripts/packages.ts [--outdir dist]

Builds @agent-operating-account/client into <outdir>/client and @agent-operating-account/mcp into
<outdir>/mcp. It publishes nothing.`

if (import.meta.main) {
  const { values } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' }, outdir: { type: 'string', default: 'dist' } },
  })
  if (values.help) {
    console.log(help)
  } else {
    await buildClient(join(process.cwd(), values.outdir, 'client'))
    await buildMcp(join(process.cwd(), values.outdir, 'mcp'))
  }
}
