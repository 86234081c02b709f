/** Builds the adapters of agent frameworks. They import the client's tools, so that none has them twice. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { beginPackage, forEveryRuntime, root, version, withTypesOf } from './package.ts'

/** Adapters with the frameworks that a program brings along. */
export const adapters = [
  { name: 'ai-sdk', framework: 'the AI SDK', peers: { ai: '^7.0.0' } },
  { name: 'langchain', framework: 'LangChain', peers: { '@langchain/core': '^1.0.0' } },
  {
    name: 'openai-agents',
    framework: 'the OpenAI Agents SDK',
    peers: { '@openai/agents': '^0.20.0' },
  },
] as const

/** An adapter. */
export type Adapter = (typeof adapters)[number]

const folder = join(root, 'scripts/adapters')
const frameworks = join(folder, 'frameworks')

/** Builds an adapter into this folder, which is emptied first. */
export async function buildAdapter(
  { name, framework, peers }: Adapter,
  outdir: string,
): Promise<void> {
  const source = join(folder, `${name}.ts`)
  const client = { '@agent-operating-account/client': version }
  beginPackage(outdir, `scripts/adapters/${name}.md`, {
    name: `@agent-operating-account/${name}`,
    description: `The tools of an Agent Operating Account for ${framework}.`,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    types: './index.d.ts',
    files: ['index.js', 'index.d.ts'],
    sideEffects: false,
    engines: { node: '>=20.3' },
    peerDependencies: { ...client, ...peers },
  })
  await build({
    entryPoints: [source],
    outfile: join(outdir, 'index.js'),
    ...forEveryRuntime,
    packages: 'external',
    plugins: [fromClient],
  })
  writeFileSync(join(outdir, 'index.d.ts'), typesOf(source))
}

/** Leaves the client's modules outside, under the names of its package. */
const fromClient: Plugin = {
  name: 'from-client',
  setup(building) {
    building.onResolve({ filter: /\/client\/\w+\.ts$/ }, ({ path }) => ({
      path: namedByPackage(path),
      external: true,
    }))
  },
}

function typesOf(source: string): string {
  const declared = readdirSync(frameworks).map((file) => join(frameworks, file))
  return withTypesOf([source, ...declared], (directory) => {
    const file = join(directory, 'adapters', basename(source).replace(/\.ts$/, '.d.ts'))
    return readFileSync(file, 'utf8').replaceAll(
      /'[./]+(\/client\/\w+\.ts)'/g,
      (_, path: string) => `'${namedByPackage(path)}'`,
    )
  })
}

/** Returns the import of the client's package for that of a file of it. */
export function namedByPackage(path: string): string {
  const client = '@agent-operating-account/client'
  return path.endsWith('/tools.ts') ? `${client}/tools` : client
}
