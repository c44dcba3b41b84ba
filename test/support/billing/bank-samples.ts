// Statements as ten banks export them, with made-up data. All have the same three bookings: 1,234.56 EUR that came in, 9.90 EUR
// that went out, and 34.51 EUR that came in. Some also announce a payment that is not booked.
type Texts = { first: string; second: string };
type Sample = {
  name: string;
  write: (texts: Texts) => string;
  encoding?: 'windows-1252';
  /** Returns the reference that we read from this statement for a text that the payer wrote. */
  reference: (text: string) => string;
};

const payer = 'Zoë Müller GmbH';
const after = (text: string) => `${text} / ${payer}`;
const lines = (...all: string[]) => `${all.join('\r\n')}\r\n`;
const quoted = (mark: string, ...fields: string[]) => fields.map((field) => `"${field}"`).join(mark);

const sparkasse = (text: string, amount: string, info = 'Umsatz gebucht') =>
  quoted(
    ';',
    ...[
      'DE00100000000000000001',
      '03.02.26',
      '03.02.26',
      'GUTSCHR. UEBERWEISUNG',
      text,
      '',
      '',
      '',
      '',
      '',
      '',
    ],
    ...[payer, 'DE00200000000000000002', 'TESTDEFFXXX', amount, 'EUR', info],
  );

const volksbank = (text: string, amount: string) =>
  [
    ...[
      'Konto',
      'DE00100000000000000001',
      'TESTDEFFXXX',
      'Volksbank Test',
      '03.02.2026',
      '03.02.2026',
      payer,
    ],
    ...[
      'DE00200000000000000002',
      'TESTDEFFXXX',
      'Gutschrift',
      text,
      amount,
      'EUR',
      '5000,00',
      '',
      'Sonstiges',
    ],
    ...['', '', ''],
  ].join(';');

const deutscheBank = (text: string, out: string, into: string) =>
  [
    ...[
      '03.02.2026',
      '03.02.2026',
      'SEPA-Gutschrift von',
      payer,
      text,
      'DE00200000000000000002',
      'TESTDEFFXXX',
    ],
    ...['', '', '', '', '', '', '', '', out, into, 'EUR'],
  ].join(';');

const dkb = (text: string, amount: string, status = 'Gebucht') =>
  quoted(
    ';',
    ...[
      '03.02.26',
      '03.02.26',
      status,
      payer,
      'Seller GmbH',
      text,
      'Eingang',
      'DE00200000000000000002',
      amount,
    ],
    ...['', '', ''],
  );

const n26 = (text: string, amount: string) =>
  `2026-02-03,2026-02-03,"${payer}",DE00200000000000000002,Credit Transfer,"${text}",Main,${amount},,,`;

const wise = (id: string, text: string, amount: string) =>
  `TRANSFER-${id},03-02-2026,"03-02-2026 10:11:12.123",${amount},EUR,"Received money from ${payer}","${text}",5000.00,,,,"${payer}",,,,,,,,0.00,,CREDIT,MONEY_ADDED`;

const revolut = (id: string, text: string, amount: string, state = 'COMPLETED') =>
  `2026-02-03,2026-02-03,${id},TOPUP,${state},"Payment from ${payer}","${text}","${payer}",,,,EUR,${amount},EUR,${amount},${amount},,0.00,EUR,5000.00,Main`;

const camt = (entries: string) => `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>1</MsgId></GrpHdr>
<Stmt><Id>1</Id><Acct><Id><IBAN>DE00100000000000000001</IBAN></Id></Acct>
${entries}</Stmt></BkToCstmrStmt></Document>`;

export const camtEntry = (
  text: string,
  amount: string,
  { sign = 'CRDT', status = 'BOOK', ref = text } = {},
) => `
<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${sign}</CdtDbtInd><Sts><Cd>${status}</Cd></Sts>
<BookgDt><Dt>2026-02-03</Dt></BookgDt><ValDt><Dt>2026-02-03</Dt></ValDt><AcctSvcrRef>${ref}</AcctSvcrRef>
<NtryDtls><TxDtls><Refs><EndToEndId>NOTPROVIDED</EndToEndId></Refs>
<RltdPties><Dbtr><Pty><Nm>${payer}</Nm></Pty></Dbtr></RltdPties>
<RmtInf><Ustrd>${text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`;

export const bankSamples: Sample[] = [
  {
    name: 'Sparkasse',
    encoding: 'windows-1252',
    reference: after,
    write: ({ first, second }) =>
      lines(
        '"Auftragskonto";"Buchungstag";"Valutadatum";"Buchungstext";"Verwendungszweck";"Glaeubiger ID";"Mandatsreferenz";"Kundenreferenz (End-to-End)";"Sammlerreferenz";"Lastschrift Ursprungsbetrag";"Auslagenersatz Ruecklastschrift";"Beguenstigter/Zahlungspflichtiger";"Kontonummer/IBAN";"BIC (SWIFT-Code)";"Betrag";"Waehrung";"Info"',
        sparkasse('Noch nicht', '77,00', 'Umsatz vorgemerkt'),
        sparkasse(first, '1234,56'),
        sparkasse('Strom', '-9,90'),
        sparkasse(second, '34,51'),
      ),
  },
  {
    name: 'Volksbank',
    reference: after,
    write: ({ first, second }) =>
      lines(
        'Bezeichnung Auftragskonto;IBAN Auftragskonto;BIC Auftragskonto;Bankname Auftragskonto;Buchungstag;Valutadatum;Name Zahlungsbeteiligter;IBAN Zahlungsbeteiligter;BIC (SWIFT-Code) Zahlungsbeteiligter;Buchungstext;Verwendungszweck;Betrag;Waehrung;Saldo nach Buchung;Bemerkung;Kategorie;Steuerrelevant;Glaeubiger ID;Mandatsreferenz',
        volksbank(first, '1234,56'),
        volksbank('Strom', '-9,90'),
        volksbank(second, '34,51'),
      ),
  },
  {
    name: 'Deutsche Bank',
    encoding: 'windows-1252',
    reference: after,
    write: ({ first, second }) =>
      lines(
        'Umsätze Girokonto;;;Kundennummer: 100 1234567 00',
        '01.02.2026 - 28.02.2026',
        'Letzter Kontostand;;;;5.000,00;EUR',
        'Vorgemerkte und noch nicht gebuchte Umsätze sind nicht Bestandteil dieser Übersicht.',
        'Buchungstag;Wert;Umsatzart;Begünstigter / Auftraggeber;Verwendungszweck;IBAN / Kontonummer;BIC;Kundenreferenz;Mandatsreferenz;Gläubiger ID;Fremde Gebühren;Betrag;Abweichender Empfänger;Anzahl der Aufträge;Anzahl der Schecks;Soll;Haben;Währung',
        deutscheBank(first, '', '1.234,56'),
        deutscheBank('Strom', '-9,90', ''),
        deutscheBank(second, '', '34,51'),
        'Kontostand;28.02.2026;;;5.000,00;EUR',
      ),
  },
  {
    name: 'DKB',
    reference: after,
    write: ({ first, second }) =>
      `\ufeff${lines(
        '"Girokonto";"DE00100000000000000001"',
        '""',
        '"Kontostand vom 28.02.2026:";"5.000,00 €"',
        '""',
        '"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Verwendungszweck";"Umsatztyp";"IBAN";"Betrag (€)";"Gläubiger-ID";"Mandatsreferenz";"Kundenreferenz"',
        dkb('Noch nicht', '77,00', 'Vorgemerkt'),
        dkb(first, '1.234,56 €'),
        dkb('Strom', '-9,90 €'),
        dkb(second, '34,51 €'),
      )}`,
  },
  {
    name: 'ING',
    encoding: 'windows-1252',
    reference: after,
    write: ({ first, second }) =>
      lines(
        'Umsatzanzeige;Datei erstellt am: 28.02.2026 10:00',
        '',
        'IBAN;DE00 1000 0000 0000 0000 01',
        'Saldo;5.000,00;EUR',
        '',
        'Buchung;Wertstellungsdatum;Auftraggeber/Empfänger;Buchungstext;Verwendungszweck;Saldo;Währung;Betrag;Währung',
        `03.02.2026;03.02.2026;${payer};Gutschrift;${first};5.000,00;EUR;1.234,56;EUR`,
        `03.02.2026;03.02.2026;${payer};Lastschrift;Strom "Nord";5.000,00;EUR;-9,90;EUR`,
        `03.02.2026;03.02.2026;${payer};Gutschrift;${second};5.000,00;EUR;34,51;EUR`,
      ),
  },
  {
    name: 'N26',
    reference: after,
    write: ({ first, second }) =>
      lines(
        '"Booking Date","Value Date","Partner Name","Partner Iban",Type,"Payment Reference","Account Name","Amount (EUR)","Original Amount","Original Currency","Exchange Rate"',
        n26(first, '1234.56'),
        n26('Strom', '-9.9'),
        n26(second, '34.51'),
      ),
  },
  {
    name: 'N26 until 2024',
    reference: after,
    write: ({ first, second }) =>
      lines(
        '"Date","Payee","Account number","Transaction type","Payment reference","Amount (EUR)","Amount (Foreign Currency)","Type Foreign Currency","Exchange Rate"',
        ...[
          [first, '1234.56'],
          ['Strom', '-9.90'],
          [second, '34.51'],
        ].map(([text = '', amount = '']) =>
          quoted(',', '2026-02-03', payer, 'DE00200000000000000002', 'Income', text, amount, '', '', ''),
        ),
      ),
  },
  {
    name: 'Wise',
    reference: (text) => `${text} Received money from ${payer} / ${payer}`,
    write: ({ first, second }) =>
      lines(
        '"TransferWise ID",Date,"Date Time",Amount,Currency,Description,"Payment Reference","Running Balance","Exchange From","Exchange To","Exchange Rate","Payer Name","Payee Name","Payee Account Number",Merchant,"Card Last Four Digits","Card Holder Full Name",Attachment,Note,"Total fees","Exchange To Amount","Transaction Type","Transaction Details Type"',
        wise('1', first, '1234.56'),
        wise('2', 'Strom', '-9.90'),
        wise('3', second, '34.51'),
      ),
  },
  {
    name: 'Revolut',
    reference: (text) => `${text} Payment from ${payer} / ${payer}`,
    write: ({ first, second }) =>
      lines(
        'Date started (UTC),Date completed (UTC),ID,Type,State,Description,Reference,Payer,Card number,Card label,Card state,Orig currency,Orig amount,Payment currency,Amount,Total amount,Exchange rate,Fee,Fee currency,Balance,Account',
        revolut('a', 'Noch nicht', '77.00', 'PENDING'),
        revolut('b', first, '1234.56'),
        revolut('c', 'Strom', '-9.90'),
        revolut('d', second, '34.51'),
      ),
  },
  {
    name: 'CAMT.053',
    reference: after,
    write: ({ first, second }) =>
      camt(
        [
          camtEntry('Noch nicht', '77.00', { status: 'PDNG' }),
          camtEntry(first, '1234.56'),
          camtEntry('Strom', '9.90', { sign: 'DBIT' }),
          camtEntry(second, '34.51'),
        ].join(''),
      ),
  },
];

export const writeCamt = (...entries: string[]) => camt(entries.join(''));

/**
 * The bytes of a text. In Windows-1252, each character of these texts is one byte, whose value is the number of the character.
 */
export const encode = (text: string, encoding?: Sample['encoding']): Uint8Array =>
  encoding
    ? Uint8Array.from(text, (char) => (char === '€' ? 0x80 : char.charCodeAt(0)))
    : new TextEncoder().encode(text);
