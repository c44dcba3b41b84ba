// Builds the attachments of a document's PDF, and their metadata (Factur-X 1.0, PDF/A-3).

type Files = { xml: string | undefined; sealed: string; at: Date };

export function attachFiles(doc: PDFKit.PDFDocument, { xml, sealed, at }: Files): void {
  const attach = (
    name: string,
    text: string,
    options: { type: string; relationship: string; description: string },
  ) =>
    // pdfkit accepts any bytes, but its types allow only Node's Buffer.
    doc.file(
      new TextEncoder().encode(text) as unknown as string,
      {
        name,
        creationDate: at,
        modifiedDate: at,
        ...options,
      } as PDFKit.Mixins.PDFAttachmentOptions,
    );
  if (xml) {
    attach('factur-x.xml', xml, {
      type: 'text/xml',
      relationship: 'Alternative',
      description: 'Factur-X/ZUGFeRD e-invoice, EN 16931',
    });
    (doc as unknown as { appendXML: (xml: string) => void }).appendXML(facturXMetadata);
  }
  attach('identity-facts.json', sealed, {
    type: 'application/json',
    relationship: 'Source',
    description: 'The facts of this document, sealed by its issuer',
  });
}

const properties = [
  ['DocumentFileName', 'The name of the embedded XML document'],
  ['DocumentType', 'The type of the hybrid document in capital letters, e.g. INVOICE or ORDER'],
  ['Version', 'The actual version of the standard applying to the embedded XML document'],
  ['ConformanceLevel', 'The conformance level of the embedded XML document'],
];

const facturXMetadata = `
<rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#">
  <fx:DocumentType>INVOICE</fx:DocumentType>
  <fx:DocumentFileName>factur-x.xml</fx:DocumentFileName>
  <fx:Version>1.0</fx:Version>
  <fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
  xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
  <pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
    <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
    <pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI>
    <pdfaSchema:prefix>fx</pdfaSchema:prefix>
    <pdfaSchema:property><rdf:Seq>${properties
      .map(
        ([name, description]) => `
      <rdf:li rdf:parseType="Resource">
        <pdfaProperty:name>${name}</pdfaProperty:name>
        <pdfaProperty:valueType>Text</pdfaProperty:valueType>
        <pdfaProperty:category>external</pdfaProperty:category>
        <pdfaProperty:description>${description}</pdfaProperty:description>
      </rdf:li>`,
      )
      .join('')}
    </rdf:Seq></pdfaSchema:property>
  </rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>`;
