// The block in the editor. Its content is made by the server, here as on the page.
((wp) => {
  const { createElement } = wp.element;
  wp.blocks.registerBlockType('identity-login/login', {
    edit: () =>
      createElement(
        'div',
        wp.blockEditor.useBlockProps(),
        createElement(wp.serverSideRender, { block: 'identity-login/login' }),
      ),
    save: () => null,
  });
})(window.wp);
