/** The data folder of a service, for a backup while it runs or stands still, and for a restore into an empty one. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '../local/postgres.ts'
import { folderIn, readSecrets } from '../serve/settings.ts'
import { copyDatabase, loadDatabase, openCopy } from './database-copy.ts'
import { openSealed, sealFile } from './sealed-file.ts'

/** Settings of both programs. */
export type BackupOptions = {
  file: string
  passphrase: string
  directory: string
  /** Database of the service, if it is not the one in the data folder. */
  databaseUrl: string | undefined
}

/** Writes the database, the secrets and serve.toml into one sealed file. */
export async function backUp({ file, passphrase, directory, databaseUrl }: BackupOptions) {
  if (!existsSync(folderIn(directory))) throw new Error(`${directory} has no secrets to back up`)
  const files = Object.fromEntries(
    pathsIn(directory).map((path) => [path, readFileSync(join(directory, path), 'utf8')]),
  )
  await withDatabase({ directory, databaseUrl }, (url) =>
    copyDatabase(url, files, (content) => sealFile(file, passphrase, content)),
  )
}

/** Paths of the files beside the database that a service cannot go on without. */
function pathsIn(directory: string): string[] {
  const secrets = readdirSync(folderIn(directory)).map((name) => join('secrets', name))
  return [...secrets, ...(existsSync(join(directory, 'serve.toml')) ? ['serve.toml'] : [])]
}

/** Makes a data folder from a backup. Returns the time of the backup. Nothing is left of a restore that fails. */
export async function restore({ file, passphrase, directory, databaseUrl }: BackupOptions) {
  const made = ['secrets', 'postgres'].map((name) => join(directory, name))
  if (made.some((path) => existsSync(path))) {
    throw new Error(`${directory} holds a service; restore into another folder with --data`)
  }
  if (databaseUrl !== undefined) await demandEmpty(databaseUrl)
  try {
    return await openSealed(file, passphrase, async (content) => {
      const copy = await openCopy(content)
      mkdirSync(directory, { recursive: true })
      chmodSync(directory, 0o711)
      mkdirSync(folderIn(directory), { mode: 0o700 })
      for (const [path, text] of Object.entries(copy.head.files)) {
        writeFileSync(join(directory, path), text, { mode: 0o600 })
      }
      await withDatabase({ directory, databaseUrl }, (url) => loadDatabase(url, copy))
      return copy.head.made_at
    })
  } catch (error) {
    for (const path of made) rmSync(path, { recursive: true, force: true })
    throw error
  }
}

async function demandEmpty(url: string): Promise<void> {
  const sql = postgres(url, { max: 1 })
  try {
    const [found] = await sql`select to_regclass('private.accounts') as accounts`
    if (found?.['accounts'] !== null) throw new Error('the database is not empty')
  } finally {
    await sql.end({ timeout: 5 })
  }
}

type Where = Pick<BackupOptions, 'directory' | 'databaseUrl'>

/** Runs work on the database: the one that a running service has started, or one that is started for it. */
export async function withDatabase<Result>(
  { directory, databaseUrl }: Where,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  if (databaseUrl !== undefined) return work(databaseUrl)
  const { DATABASE_PASSWORD: password } = readSecrets(directory, 'owner')
  const running = await runningUrl(directory, password)
  if (running !== undefined) return work(running)
  const server = await startEmbeddedPostgres({ directory: join(directory, 'postgres'), password })
  try {
    return await work(server.url)
  } finally {
    await server.stop()
  }
}

/** Returns the address of the server that runs in a data folder. Its port is the fourth line of its pid file. */
async function runningUrl(directory: string, password = ''): Promise<string | undefined> {
  const pidFile = join(directory, 'postgres', 'postmaster.pid')
  if (!existsSync(pidFile)) return undefined
  const port = readFileSync(pidFile, 'utf8').split('\n')[3]
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  const sql = postgres(url, { max: 1 })
  try {
    await sql`select`
    return url
  } catch {
    return undefined
  } finally {
    await sql.end({ timeout: 5 })
  }
}
