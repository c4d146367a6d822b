import { answersZh } from './answers_zh'
import { balanceZh } from './balance_zh'
import { checksZh } from './checks_zh'
import { decisionsZh } from './decisions_zh'
import { fieldsZh } from './fields_zh'
import { networkZh } from './network_zh'
import { refusalsZh } from './refusals_zh'
import { translatorOf } from './sentence'

export const sentencesZh = [...decisionsZh, ...networkZh, ...refusalsZh, ...answersZh, ...fieldsZh, ...checksZh, ...balanceZh]

/** The server's sentences in Chinese. */
export const translateZh = translatorOf(sentencesZh, (count) => `${count} 个单元`)
