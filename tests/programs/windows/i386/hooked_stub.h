/* Part of hooked.c: the stub of i386. */
#define STUB_SIZE 48
#define STUB_BODY STUB_FRAME_SIZE_I386

static void write_stub(char *stub, uint32_t index, char *function)
{
    static const char code[] = "\x51\x50\xe8\0\0\0\0\x58\x8b\x88....\xe3\x0d"
                               "\x8d\x40\x1b\xff\xe1"
                               "........\x58\x59\x0f\x1f\x00";
    char *here = stub + 7, *body = stub + STUB_BODY;

    memcpy(stub, code, sizeof code - 1);
    put_int32(stub + 10, (char *)&header.entry_hook - here);
    put_int32(body + STUB_HEADER_DISTANCE, (char *)&header - body);
    put_int32(body + STUB_INDEX, index);
    *body = (char)0xe9;
    put_int32(body + 1, function + PATCH_SIZE - (body + PATCH_SIZE));
}
