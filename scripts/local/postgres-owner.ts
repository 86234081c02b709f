/**
 * PostgreSQL refuses to run as root. If this process is root, the server runs in a user namespace in
 * which root has another number, so that it can read a checkout that only root may read. If the kernel
 * has no such namespaces, it runs as another user, who must be able to reach the directory.
 */
import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, statSync } from 'node:fs'

const namespace = ['unshare', '--user', '--map-user=1000', '--map-group=1000']

/** Makes the data directory. Returns the prefix of the server's commands. */
export function prepareOwner(directory: string): string[] {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (process.getuid?.() !== 0) return []
  if (statSync(directory).uid === 0 && hasNamespaces()) return namespace
  const { uid, gid } = unprivilegedUser()
  chownSync(directory, uid, gid)
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
}

function hasNamespaces(): boolean {
  const [command = '', ...flags] = namespace
  return spawnSync(command, [...flags, 'true']).status === 0
}

function unprivilegedUser(): { uid: number; gid: number } {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const [line] = ['postgres:', 'nobody:'].flatMap((name) => lines.filter((l) => l.startsWith(name)))
  const [, , uid, gid] = line?.split(':') ?? []
  if (!uid || !gid) throw new Error('root needs a user "postgres" or "nobody" to run PostgreSQL as')
  return { uid: Number(uid), gid: Number(gid) }
}
