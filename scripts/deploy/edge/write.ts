/** Writes the folder that the CLI of Supabase deploys: a module for each function, settings, and values. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { prefix } from '../../build/at-supabase.ts'
import { bundling } from '../../build/functions.ts'
import { type EdgeFunction, secretsOf, varsOf } from './plan.ts'

/** Name of the file of values that are not secret. */
export const valuesFile = 'public.env'

/** Writes `supabase/` into `outdir`, in place of the one there. */
export async function writeEdgeFunctions(
  outdir: string,
  project: string,
  functions: readonly EdgeFunction[],
): Promise<void> {
  const directory = join(outdir, 'supabase')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'config.toml'), configText(project, functions))
  const secrets = secretsOf(functions).map((name) => `# ${prefix}${name}\n`)
  const head = '# Secrets, whose values are set apart from these:\n'
  writeFileSync(
    join(directory, valuesFile),
    `${envText(varsOf(functions))}\n${head}${secrets.join('')}`,
  )
  await bundle(directory, functions)
}

/** The platform would ask for a JWT of its own; these functions have API keys and tokens of theirs. */
function configText(project: string, functions: readonly EdgeFunction[]): string {
  const parts = functions.map(
    ({ folder }) => `
[functions.${folder}]
verify_jwt = false
entrypoint = "./functions/${folder}/index.js"
`,
  )
  return `# Written by npm run deploy -- --target supabase.\nproject_id = "${project}"\n${parts.join('')}`
}

/** Returns lines of an env file. Values in single quotes are taken as they are. */
export function envText(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => {
      if (/['\n\r]/.test(value)) throw new Error(`${name} has a quote or a line break in it`)
      return `${prefix}${name}='${value}'\n`
    })
    .join('')
}

/** Bundles all functions in one run, which reads each file once. */
async function bundle(directory: string, functions: readonly EdgeFunction[]): Promise<void> {
  const entries = functions.map(({ folder }) => [`${folder}/index`, `edge:${folder}`])
  const sources = new Map(functions.map((one) => [one.folder, entryModule(one)]))
  const given: Plugin = {
    name: 'entry modules of functions',
    setup(building) {
      building.onResolve({ filter: /^edge:/ }, ({ path }) => ({
        path: path.replace('edge:', ''),
        namespace: 'edge',
      }))
      building.onLoad({ filter: /./, namespace: 'edge' }, ({ path }) => ({
        contents: sources.get(path) ?? '',
        resolveDir: bundling.absWorkingDir,
        loader: 'ts',
      }))
    },
  }
  await build({
    ...bundling,
    entryPoints: Object.fromEntries(entries),
    outdir: join(directory, 'functions'),
    outExtension: { '.js': '.js' },
    plugins: [given],
  })
}

function entryModule({ folder, vars, secrets, calls }: EdgeFunction): string {
  const needs = { texts: [...Object.keys(vars), ...secrets], calls }
  return `import made from './functions/${folder}/index.ts'
import { serveAtSupabase } from './scripts/build/at-supabase.ts'
serveAtSupabase(made, ${JSON.stringify(needs)})
`
}
