#!/usr/bin/env bash
# @simplewebauthn/server 14.0.3 with attestation `none`: a bundle of verifyRegistrationResponse carries the packages that
# read X.509 certificates (@peculiar/x509, tsyringe, reflect-metadata) although no certificate is ever read, because the
# formats are dispatched at run time and no bundler can drop them. reflect-metadata patches the global Reflect when it is
# imported. Replacing those packages by an empty module saves a third of the bundle.
#
# Installs pinned packages in a temporary folder. Fails if the behaviour is another one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts @simplewebauthn/server@14.0.3 esbuild@0.28.2
cat >entry.mjs <<'JS'
export { verifyRegistrationResponse } from '@simplewebauthn/server'
JS
cat >empty.mjs <<'JS'
class Nothing {}
export {
  Nothing as AuthorityKeyIdentifierExtension, Nothing as CRLDistributionPointsExtension, Nothing as KeyDescription,
  Nothing as SubjectKeyIdentifierExtension, Nothing as X509Certificate, Nothing as X509ChainBuilder, Nothing as X509Crl,
  Nothing as id_ce_keyDescription,
}
JS
cat >sizes.mjs <<'JS'
import { build } from 'esbuild'
import { gzipSync } from 'node:zlib'
const bundle = async (alias) => {
  const { outputFiles, metafile } = await build({
    entryPoints: ['entry.mjs'], bundle: true, minify: true, format: 'esm', write: false, metafile: true,
    platform: 'neutral', mainFields: ['module', 'main'], external: ['node:*'], logLevel: 'silent', ...(alias && { alias }),
  })
  const [output] = Object.values(metafile.outputs)
  const names = Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path.replace(/^.*node_modules\/((?:@[^/]+\/)?[^/]+).*$/, '$1'))
  return { gzip: gzipSync(outputFiles[0].contents, { level: 9 }).length, packages: [...new Set(names)] }
}
const whole = await bundle()
const carried = ['@peculiar/x509', 'tsyringe', 'reflect-metadata'].filter((name) => whole.packages.includes(name))
const without = await bundle({
  '@peculiar/x509': './empty.mjs', '@peculiar/asn1-android': './empty.mjs', 'reflect-metadata': './empty.mjs',
})
console.log(`carried: ${carried.join(', ')}`)
console.log(`gzip: ${whole.gzip} bytes whole, ${without.gzip} without`)
if (carried.length !== 3) throw new Error('the packages are no longer carried')
if (without.gzip > whole.gzip * 0.8) throw new Error('they are no longer a fifth of the bundle')
JS
node sizes.mjs
node -e "
const before = typeof Reflect.defineMetadata
import('@simplewebauthn/server').then(() => {
  console.log('Reflect.defineMetadata: ' + before + ' before the import, ' + typeof Reflect.defineMetadata + ' after')
  if (before !== 'undefined' || typeof Reflect.defineMetadata !== 'function') throw new Error('Reflect is not patched')
})"
