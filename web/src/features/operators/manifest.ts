import type { OperatorManifest, OperatorPackage } from '../../queries/operator_library'
import type { Operator } from '../../queries/operators'
import { parseObject } from '../../ui/json_text'

const described = ['id', 'category', 'description', 'parameters', 'inputs', 'outputs', 'operation_count', 'byte_count', 'truth', 'tolerance',
  'precision', 'implementations', 'signature', 'size_classes', 'cache_rule', 'working_set', 'sandbox'] as const

/** What an expert writes of an operator, without what the library adds to it. */
export function manifestOf(operator: Operator): OperatorManifest {
  return Object.fromEntries(described.filter((name) => operator[name] !== undefined).map((name) => [name, operator[name]])) as unknown as OperatorManifest
}

/** A signed package out of a file's text; null where a part is missing. The server checks what is in it. */
export function parsePackage(text: string): OperatorPackage | null {
  const value = parseObject(text)
  const isWhole = value !== null && typeof value.manifest === 'object' && value.manifest !== null &&
    ['object_base64', 'signature_base64', 'key_id'].every((name) => typeof value[name] === 'string')
  return isWhole ? (value as unknown as OperatorPackage) : null
}
