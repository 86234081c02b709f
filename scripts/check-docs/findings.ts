/** Finds what documents and comments name and the tree does not have. */
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import * as z from 'zod'

type File = { path: string; text: string }
type Finding = { path: string; line: number; text: string }
type Tree = {
  paths: ReadonlySet<string>
  texts: ReadonlyMap<string, string>
  /** Everything but documents; a variable has to stand there. */
  code: string
  scripts: Readonly<Record<string, string>>
  programs: readonly string[]
}

/** Has the form of a path and is none of ours: a media type, a payment method, a file that is made. */
const foreign = /^((application|text|image|evm|dist|data)\/|(serve|deploy)\.toml$|SKILL\.md$)/
const manifest = z.object({ scripts: z.record(z.string(), z.string()) })

/** Returns what the documents and comments among these files name and none of them is or contains. */
export function findingsIn(files: readonly File[], programs: readonly string[]): Finding[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const others = files.filter(({ path }) => !isDocument(path))
  const tree: Tree = {
    paths: new Set(files.flatMap(({ path }) => [path, ...foldersOf(path)])),
    texts,
    code: others.map(({ text }) => text).join('\n'),
    scripts: manifest.parse(JSON.parse(texts.get('package.json') ?? '')).scripts,
    programs,
  }
  return [
    ...files.filter(({ path }) => isDocument(path)).flatMap((file) => inDocument(file, tree)),
    ...others.flatMap((file) => inComments(file, tree)),
  ]
}

function isDocument(path: string): boolean {
  return /(^|\/)(README|SECURITY)\.md$/.test(path) || path === 'functions/discovery/skill.md'
}

function foldersOf(path: string): string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [folder, ...foldersOf(folder)]
}

function inDocument(file: File, tree: Tree): Finding[] {
  let language: string | undefined
  const named = file.text.split('\n').flatMap((line, at) => {
    const [fence, opened] = /^ *```(\w*)/.exec(line) ?? []
    if (fence !== undefined) {
      language = language === undefined ? opened : undefined
      return []
    }
    const problems = language === undefined ? inProse(line, file.path, tree) : []
    if (language === 'sh') problems.push(...inShell(line.replace(/(^|\s)#.*$/, ''), tree))
    return problems.map((text) => ({ path: file.path, line: at + 1, text }))
  })
  return [...named, ...unreadBlocks(file)]
}

function inProse(line: string, from: string, tree: Tree): string[] {
  const links = [...line.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const quoted = [...line.matchAll(/`([^`]+)`/g)].map(([, inside = '']) => inside)
  return [
    ...links.filter((link) => !isLinked(link, from, tree)),
    ...quoted.filter((one) => !isNamed(one, from, tree)),
    ...quoted.flatMap((one) => inCommand(one, tree)),
  ]
}

function isLinked(link: string, from: string, { paths, texts }: Tree): boolean {
  if (/^(https?|mailto):/.test(link)) return true
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? from : join(dirname(from), file).replace(/\/$/, '')
  const headings = [...(texts.get(target) ?? '').matchAll(/^#+ (.+)$/gm)]
  const anchors = headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
  return anchor === undefined ? paths.has(target) : anchors.includes(anchor)
}

/** Decides whether a quoted word is no path or variable of ours, or one that exists. */
function isNamed(word: string, from: string, { paths, code }: Tree): boolean {
  if (/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(word)) return code.includes(word)
  const isPath = /^[\w*-][\w.*-]*(\/[\w.*-]+)*\/?$/.test(word) && !foreign.test(word)
  if (!isPath || !/\/|\.(tsx?|sql|toml|md|sh)$/.test(word)) return true
  const pattern = word.replace(/\/$/, '').replaceAll('.', '\\.').replaceAll('*', '[^/]*')
  const here = dirname(from) === '.' ? '' : `${dirname(from)}/`
  // A name alone may be that of a file in any folder below.
  const below = word.includes('/') ? '' : '(.*/)?'
  const wanted = new RegExp(`^(${here}${below})?${pattern}$`)
  return [...paths].some((path) => wanted.test(path))
}

function inShell(command: string, tree: Tree): string[] {
  const words = command.split(/[\s="'$]+/)
  const program = /\bnpx ([\w-]+)/.exec(command)?.[1]
  const called = /127\.0\.0\.1:8787\/([\w-]+)/.exec(command)?.[1]
  return [
    ...words.filter((word) => /^[\w.-]+(\/|$)/.test(word) && !isNamed(word, '', tree)),
    ...(program === undefined || tree.programs.includes(program) ? [] : [`npx ${program}`]),
    ...(called === undefined || tree.paths.has(`functions/${called}`) ? [] : [`/${called}`]),
    ...inCommand(command, tree),
  ]
}

/** Returns the scripts, files and options of a command line that do not exist. */
function inCommand(command: string, { scripts, paths, texts }: Tree): string[] {
  return command.split(/&&|;|\|/).flatMap((part) => {
    const [, name] = /\bnpm (?:run )?(?:-s )?([a-z][\w:-]*)/.exec(part) ?? []
    if (name === 'ci' || name === 'install') return []
    if (name !== undefined && !(name in scripts)) return [`npm run ${name}`]
    const [, file] =
      /\bnode (\S+\.ts)/.exec(name === undefined ? part : (scripts[name] ?? '')) ?? []
    if (file === undefined) return []
    if (!paths.has(file)) return [`node ${file}`]
    const folder = file.replace(/\.ts$/, '/')
    const sources = [...texts].filter(([path]) => path === file || path.startsWith(folder))
    const text = sources.map(([, one]) => one).join('\n')
    const flags = [...part.matchAll(/ --([a-z][\w-]*)/g)].map(([, flag = '']) => flag)
    const isKnown = (flag: string) => new RegExp(`--${flag}\\b|\\b${flag}['"]?: {`).test(text)
    return flags.filter((flag) => !isKnown(flag)).map((flag) => `${file} has no --${flag}`)
  })
}

function unreadBlocks({ path, text }: File): Finding[] {
  return [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].flatMap(({ 1: input = '', index }) => {
    const { stderr } = spawnSync('bash', ['-n'], { input, encoding: 'utf8' })
    const line = text.slice(0, index).split('\n').length + 1
    return stderr === '' ? [] : [{ path, line, text: stderr.trim() }]
  })
}

function inComments({ path: from, text }: File, { paths }: Tree): Finding[] {
  if (!/\.(tsx?|sql)$/.test(from)) return []
  const comment = from.endsWith('.sql') ? /(^|\s)--.*$/ : /^\s*(\/\*|\*|\/\/).*$|\s\/\/ .*$/
  const pointer = /(?<![\w.:/*@-])([\w-]+\/)*[\w.-]+\.(tsx?|sql|md|toml)\b/g
  return text.split('\n').flatMap((content, at) => {
    const [said = ''] = comment.exec(content) ?? []
    return [...said.matchAll(pointer)]
      .map(([path]) => path)
      .filter((path) => !foreign.test(path))
      .filter((path) => ![...paths].some((one) => one === path || one.endsWith(`/${path}`)))
      .map((path) => ({ path: from, line: at + 1, text: path }))
  })
}
