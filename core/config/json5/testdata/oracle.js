// Writes oracle.jsonl: what npm json5 2.2.3 makes of each input. Run: npm install json5@2.2.3 && node oracle.js > oracle.jsonl
// A row is {name, input, json} or {name, input, error}; `ours` says why this package refuses what the oracle takes.
const JSON5 = require('json5')
const cases = [
  // from the specification's own example and its sections
  ['spec example', `{\n  // comments\n  unquoted: 'and you can quote me on that',\n  singleQuotes: 'I can use "double quotes" here',\n  lineBreaks: "Look, Mom! \\\nNo \\\\n's!",\n  hexadecimal: 0xdecaf,\n  leadingDecimalPoint: .8675309, andTrailing: 8675309.,\n  positiveSign: +1,\n  trailingComma: 'in objects', andIn: ['arrays',],\n  "backwardsCompatible": "with JSON",\n}\n`],
  ['empty object', '{}'], ['empty array', '[]'], ['nested', '{a:{b:[{c:[]}]}}'],
  ['null', 'null'], ['true', 'true'], ['false', 'false'], ['word with tail', 'nullx'], ['word cut', 'tru'],
  ['word in capitals', 'True'], ['bare text', 'hello'], ['undefined', 'undefined'],
  ['trailing comma object', '{a:1,}'], ['trailing comma array', '[1,]'], ['leading comma object', '{,a:1}'],
  ['leading comma array', '[,1]'], ['double comma', '[1,,2]'], ['lone comma object', '{,}'], ['lone comma array', '[,]'],
  ['missing comma object', '{a:1 b:2}'], ['missing comma array', '[1 2]'], ['missing colon', '{a 1}'], ['missing value', '{a:}'],
  ['missing close object', '{a:1'], ['missing close array', '[1'], ['wrong close', '[1}'], ['two values', '1 2'], ['extra close', '{}}'],
  // keys
  ['key double', '{"a b":1}'], ['key single', "{'a b':1}"], ['key dollar', '{$_a1:1}'], ['key reserved word', '{null:1,while:2}'],
  ['key number', '{1:1}'], ['key with dash', '{a-b:1}'], ['key unicode', '{ùńîċõďë:9}'], ['key nl letter', '{Ⅷ:1}'],
  ['key astral', '{𝒜b:1}'], ['key escaped', '{\\u0061\\u0062c:1}'], ['key escape inside', '{a\\u0062:1}'],
  ['key escape not a start', '{\\u0031a:1}'], ['key escape digit inside', '{a\\u0031:1}'], ['key escape space', '{a\\u0020:1}'],
  ['key escape x', '{\\x61:1}'], ['key escape short', '{\\u006:1}'], ['key zwnj', '{a\u200Cb:1}'], ['key zwj', '{a\u200Db:1}'],
  ['key zwj first', '{\u200Da:1}'], ['key combining', '{a\u0301:1}'], ['key combining first', '{\u0301a:1}'], ['key connector', '{a\u203Fb:1}'],
  ['key empty', '{"":1}'], ['key proto', '{"__proto__":1}'], ['key script p', '{\u2118:1}'], ['key line break', '{"a\nb":1}'],
  ['duplicate', '{a:1,a:2}', 'a key may appear once'], ['duplicate spelled otherwise', '{a:1,"\\u0061":2}', 'a key may appear once'],
  // strings
  ['string double', '"a\'b"'], ['string single', "'a\"b'"], ['string quote escapes', `'\\'\\"'`],
  ['string escapes', '"\\b\\f\\n\\r\\t\\v\\0\\\\"'], ['string hex escape', "'\\x41\\xff'"], ['string hex escape short', "'\\x4'"], ['string hex escape bad', "'\\xzz'"],
  ['string unicode escape', "'\\u0041\\u2028'"], ['string unicode escape short', "'\\u004'"], ['string surrogate pair', "'\\uD83D\\uDE00'"],
  ['string lone high', "'\\uD83D'"], ['string lone low', "'\\uDE00x'"], ['string two highs and low', "'\\uD83D\\uD83D\\uDE00'"],
  ['string identity escape', "'\\a\\q\\/\\ü'"], ['string octal', "'\\1'"], ['string nine', "'\\9'"], ['string zero then digit', "'\\01'"], ['string zero then letter', "'\\0a'"],
  ['string continuation lf', "'a\\\nb'"], ['string continuation crlf', "'a\\\r\nb'"], ['string continuation cr', "'a\\\rb'"],
  ['string continuation ls', "'a\\\u2028b'"], ['string continuation ps', "'a\\\u2029b'"], ['string raw ls', "'a\u2028b'"],
  ['string raw lf', "'a\nb'"], ['string raw cr', "'a\rb'"], ['string raw tab', "'a\tb'"], ['string raw nul', "'a\0b'"], ['string raw del', "'\u007f'"],
  ['string open', "'abc"], ['string open after escape', "'abc\\"], ['string other quote', "'abc\""], ['string emoji', "'👩‍👩‍👧 한국어'"], ['string empty', "''"],
  // numbers
  ['zero', '0'], ['minus zero', '-0'], ['plus zero', '+0'], ['integer', '123'], ['plus', '+123'], ['minus', '-123'], ['fraction', '1.50'],
  ['leading point', '.5'], ['minus leading point', '-.5'], ['trailing point', '5.'], ['point only', '.'], ['sign only', '+'], ['sign space', '- 1'], ['two signs', '--1'],
  ['exponent', '1e3'], ['exponent plus', '1E+3'], ['exponent minus', '1.5e-3'], ['exponent after point', '5.e3'], ['exponent open', '1e'], ['exponent sign only', '1e+'],
  ['point exponent', '.e3'], ['leading zero', '012'], ['double zero', '00'], ['zero point', '0.'], ['zero exponent', '0e1'], ['minus leading zero', '-01'],
  ['hex', '0xDECAF'], ['hex upper x', '0XdecaF'], ['hex minus', '-0x10'], ['hex plus', '+0x10'], ['hex zero', '0x000'], ['hex open', '0x'], ['hex bad', '0xg'], ['hex point', '0x1.5'],
  ['hex big', '0xFFFFFFFFFFFFFFFFFF'], ['number then letter', '1a'], ['number then point', '1.2.3'], ['underscore', '1_000'], ['octal', '0o17'], ['binary', '0b1'],
  ['Infinity', 'Infinity', 'JSON has no Infinity'], ['minus Infinity', '-Infinity', 'JSON has no Infinity'], ['plus Infinity', '[+Infinity]', 'JSON has no Infinity'],
  ['NaN', 'NaN', 'JSON has no NaN'], ['minus NaN', '-NaN', 'JSON has no NaN'], ['too large', '1e999', 'read as Infinity'], ['tiny', '1e-999'], ['Infinit', 'Infinit'], ['many digits', '12345678901234567890'],
  // white space and comments
  ['white space', '\t\v\f \u00A0\uFEFF\n\r\u2028\u2029\u2003\u3000[ \u1680 ]'], ['not white space', '\u180E1'], ['zero width space', '\u200B1'], ['next line', '\u00851'],
  ['bom', '\uFEFF{a:1}'], ['line comment', '// a\n1 // b'], ['line comment at end', '1//'], ['line comment cr', '//a\r1'], ['line comment ls', '//a\u20281'],
  ['block comment', '/* a */1/* b\n*/'], ['block comment stars', '/***/1/****/'], ['block comment slash', '/*/*/1'], ['block comment open', '1/* a'], ['block comment half', '1/*/'],
  ['comment between', '{/**/a/**/:/**/1/**/,/**/}'], ['comment in number', '1/**/2'], ['slash', '/'], ['hash comment', '# a\n1'], ['empty', ''], ['only comment', '/* */ //'],
]
for (const [name, input, ours] of cases) {
  const row = { name, input, ours }
  const warn = console.warn
  console.warn = () => {}
  try { row.json = JSON.stringify(JSON5.parse(input)) } catch (e) { row.error = e.message }
  console.warn = warn
  process.stdout.write(JSON.stringify(row) + '\n')
}
