import { expect, it } from 'vitest'
import { writeDocument } from './document_text'

it('a document is written in either format', () => {
  expect(writeDocument({ name: 'scf', command: ['pw.x', '-in', 'si.in'] }, 'yaml')).toBe('name: scf\ncommand:\n  - pw.x\n  - -in\n  - si.in\n')
  expect(writeDocument({ name: 'scf' }, 'json')).toBe('{\n  "name": "scf"\n}\n')
})

it('many lines of a script stay readable in YAML', () => {
  expect(writeDocument({ script: '#!/bin/sh\necho x\n' }, 'yaml')).toBe('script: |\n  #!/bin/sh\n  echo x\n')
})
