/**
 * Checks that work grows in proportion to the length of a text. It measures CPU time, so other load does
 * not matter. Most texts are plainly linear at a quarter of their length; only others are read whole.
 */
import type { Parser } from './parsers.ts'
import type { Text } from './texts.ts'

const megabyte = 1024 * 1024
/** CPU milliseconds below which two runs are not compared. */
const millisecondsCompared = 60
const growthMax = 2.5
const millisecondsPerMegabyte = 1_000
const triesMax = 4
/**
 * Growth from an eighth to a quarter of the length up to which the whole is not read. Work of `n + q n²`
 * that just grows so grows 2.35 times from half of it to the whole, and takes 1.3 times its first rate.
 */
const firstGrowthMax = 2.1
const firstTriesMax = 3
/** Number of characters that show what a parser takes for any text. */
const fewCharacters = 64

type Measure = (parser: Parser, text: string) => Promise<number>

async function millisecondsOf(parser: Parser, text: string): Promise<number> {
  const before = process.threadCpuUsage()
  await parser.read(text)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

/** Returns the objection, or undefined. A suspicious result is measured again; the least time counts. */
export async function objectionTo(
  parser: Parser,
  text: Text,
  measure: Measure = millisecondsOf,
): Promise<string | undefined> {
  if (await isPlainlyLinear(parser, text, measure)) return undefined
  const [half, whole] = [text.of(parser.most / 2), text.of(parser.most)]
  let [ofHalf, ofWhole] = [Infinity, Infinity]
  let objection: string | undefined
  for (let tries = 0; tries < triesMax; tries += 1) {
    ofWhole = Math.min(ofWhole, await measure(parser, whole))
    if (ofWhole <= millisecondsCompared) return undefined
    ofHalf = Math.min(ofHalf, await measure(parser, half))
    objection = judge(parser, ofHalf, ofWhole)
    if (objection === undefined) return undefined
  }
  return `${parser.name}, ${text.name}: ${objection}`
}

/** Returns true if a quarter of a text shows by rate and growth that the whole keeps to the limits. */
async function isPlainlyLinear(parser: Parser, text: Text, measure: Measure): Promise<boolean> {
  const [eighth, quarter] = [text.of(parser.most / 8), text.of(parser.most / 4)]
  let [ofEighth, ofQuarter] = [Infinity, Infinity]
  for (let tries = 0; tries < firstTriesMax; tries += 1) {
    ofQuarter = Math.min(ofQuarter, await measure(parser, quarter))
    // Even work that grows with the square stays below what is compared.
    if (ofQuarter * 16 <= millisecondsCompared) return true
    if (ofQuarter > allowedFor(parser) / 8) continue
    ofEighth = Math.min(ofEighth, await measure(parser, eighth))
    const fixed = await measure(parser, text.of(fewCharacters))
    if (ofQuarter - fixed <= firstGrowthMax * (ofEighth - fixed)) return true
  }
  return false
}

/** Returns the CPU milliseconds in which the longest text is read. */
function allowedFor({ most }: Parser): number {
  return Math.max(millisecondsCompared, (millisecondsPerMegabyte * most) / megabyte)
}

function judge(parser: Parser, ofHalf: number, ofWhole: number): string | undefined {
  const told = `${ofHalf.toFixed()} ms, and ${ofWhole.toFixed()} ms for twice as much`
  const allowed = allowedFor(parser)
  if (ofWhole > allowed) return `${told}, which is more than ${allowed.toFixed()} ms`
  return ofWhole > growthMax * ofHalf ? told : undefined
}
