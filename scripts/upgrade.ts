/** Brings a service of one machine to the version of this folder: stop, back up, install, start. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { backUp } from './backup/data-folder.ts'
import { readPassphrase } from './backup/passphrase.ts'
import { runFramed } from './program/frame.ts'
import { stopRunning } from './serve/run.ts'

const help = `npm run upgrade -- --out file --passphrase-file file [--data data] [--database-url url] [--installed]

Run it in the folder that has the new version. It ends the service that runs in the data folder, backs it up,
installs the packages of the new version, and starts the service again with the flags that it had, in this
terminal; the start applies new migrations. Nobody is served meanwhile, mostly for less than a minute. If no
service runs, none is started. Under systemd, stop the unit before and start it afterwards.

--out               file to write the backup to; restore it with the old version if the new one does not start
--passphrase-file   file whose first line is the passphrase of the backup
--data              data folder of the service
--database-url      its database, if that is not in the data folder (or DATABASE_URL)
--installed         npm ci was run already

  npm run upgrade -- --out account.backup --passphrase-file ~/backup.passphrase`

const options = {
  out: { type: 'string' },
  'passphrase-file': { type: 'string' },
  data: { type: 'string', default: 'data' },
  'database-url': { type: 'string' },
  installed: { type: 'boolean' },
} as const

await runFramed(help, options, async (values) => {
  if (values.out === undefined) throw new Error('--out is missing')
  const passphrase = readPassphrase(values['passphrase-file'])
  const [file, directory] = [resolve(values.out), resolve(values.data)]
  const databaseUrl = values['database-url'] ?? process.env['DATABASE_URL']
  const stopped = await stopRunning(directory)
  if (stopped) console.log('the service was stopped')
  // Nothing changes from here on, so a restore of it has no gap.
  await backUp({ file, passphrase, directory, databaseUrl })
  console.log(`backed up to ${file}`)
  if (!values.installed && (await run('npm', ['ci'])) !== 0) throw new Error('npm ci failed')
  if (!stopped) {
    console.log('no service was running; npm run serve starts the new version')
    return 0
  }
  const program = fileURLToPath(new URL('serve.ts', import.meta.url))
  return run(process.execPath, [program, ...stopped.flags])
})

/** Runs a program to its end, and passes on what ends this one. Returns its exit code. */
async function run(command: string, args: string[]): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit' })
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => child.kill(name))
  }
  const [code] = z
    .tuple([z.int().nullable()])
    .rest(z.unknown())
    .parse(await once(child, 'exit'))
  return code ?? 1
}
