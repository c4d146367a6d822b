// What a first visit loads before anything lazy: index.html, what it names, and what those files import at once.
//
//   node dev/size.mjs [FOLDER of the bundle; default: dist]
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'

const limitKib = 350
const dist = process.argv[2] ? pathToFileURL(`${resolve(process.argv[2])}/`) : new URL('../dist/', import.meta.url)
const html = readFileSync(new URL('index.html', dist))
const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', dist)))
const files = new Set([...html.toString().matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map((match) => match[1]))
const seen = new Set()

function add(key) {
  if (seen.has(key)) return
  seen.add(key)
  const chunk = manifest[key]
  for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file)
  for (const next of chunk.imports ?? []) add(next)
}
add('index.html')

let sum = gzipSync(html).length
console.log(`${(sum / 1024).toFixed(1).padStart(8)} KiB  index.html`)
for (const file of files) {
  const size = gzipSync(readFileSync(new URL(file, dist))).length
  sum += size
  console.log(`${(size / 1024).toFixed(1).padStart(8)} KiB  ${file}`)
}
console.log(`${(sum / 1024).toFixed(1).padStart(8)} KiB  gzipped, of ${limitKib} KiB at most`)
if (sum > limitKib * 1024) process.exit(1)
