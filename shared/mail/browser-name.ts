/**
 * The name of a browser and its system, taken from fixed lists. A browser or program may call itself
 * anything, so a mail contains no text of its user agent.
 */

const browsers: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b((Headless)?Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: [RegExp, string][] = [
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Returns a name such as "Firefox on Linux". It proves nothing, because any client can claim it. */
export function browserName(userAgent: string): string {
  const named = (list: [RegExp, string][]) => list.find(([form]) => form.test(userAgent))?.[1]
  const [browser, system] = [named(browsers), named(systems)]
  if (!browser) return 'Unknown'
  return system ? `${browser} on ${system}` : browser
}
